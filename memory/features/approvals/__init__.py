"""What waits for a person to approve, as far as it is behind the hooks by now: its records in exports.

records                 candidates as an export writes and an import reads them
"""
