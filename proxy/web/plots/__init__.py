"""Plots: values to SVG, without I/O. Colours come from classes in the style sheet; each plot says in words what it
shows, for those who do not see it."""
