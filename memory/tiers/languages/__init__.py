"""What an outline needs to know of each programming language. Another one is a table in ``languages.toml``.

`detect` tells which language a text is in; `grammars` loads a tree-sitter grammar when it is first needed; `bodies`
takes out what need not be parsed; `patterns` outlines line by line the languages without one, and those whose wheel is
not installed.
"""
