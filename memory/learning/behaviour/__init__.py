"""How work is done, out of what was done: steps → sequences, habits after triggers, fixes, conventions, outcomes.

``steps`` reads an exchange, ``fixes`` and ``corrected`` what it settles; ``habits`` mines the steps of many
sessions; ``told`` says each finding as a fact. A tool's text is looked at and never said again to a model: of an error
only the hashes of its lines are kept for that.
"""
