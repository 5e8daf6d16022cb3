"""How work is done: what put errors right, habits, and the skills that they are worth.

observing               what an exchange shows of it, as facts and steps for its lesson
report                  habits of projects, with what bears them out
commands                ``palimpsest habits``
"""
