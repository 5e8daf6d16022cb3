"""A feature as a stranger would write it: counts the exchanges of each project, and uses every hook there is."""
