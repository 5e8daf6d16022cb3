"""What an outline needs to know of each programming language.

`detect` tells which language a text is in; `grammars` has the tables for languages with a tree-sitter wheel and loads a
grammar when it is first needed; `bodies` takes out what need not be parsed; `patterns` outlines line by line the
languages without one, and those whose wheel is not installed.
"""
