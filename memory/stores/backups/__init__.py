"""Copies of a home folder that can be put back, and what is done with a journal that is damaged.

copying                 a database copied while others write it
backup                  a folder with a journal, pages and settings, and the sums of all of them
upgrading               the copy that is made before a migration, and what a downgrade needs
places                  where backups lie, how often one is made, and what is in them of what was forgotten
verifying               whether a journal holds together
restoring               a backup put in a home folder's place
sealing                 a backup in one file that nobody reads without a passphrase
salvaging               what can still be read of a damaged journal, as a new one
"""
