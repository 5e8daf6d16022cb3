"""Backups of the home folder, made by a running server, and whether the journal holds together.

keeping                 makes one when it is due; takes what was forgotten out of those that hold it
feature                 that behind the hooks: at night, at a forget, in health and over HTTP
"""
