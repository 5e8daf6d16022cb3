"""MEMORY.md: the page of a user and a project.

files                   the page, made from the facts and read by whoever likes
folder                  the files that it lies in, one for each stream
edits                   what a person has changed there, taken back into memory
"""
