"""Keep a request within its model's window.

fitting                 one request: what leaves it, what comes back to it, and how large it is then
load  counting          how large it is with its edits, in tokens as we count them
reported                the same as the provider counts them
room                    what it may take, and whether its prefix is still cached
shedding                what leaves: gathered, planned by the pure rooms, given back as a decision
pieces                  what may leave at all, and what is pinned
decision                a plan as it is to be written into the ledger
overdue                 plans that are not ready in time
paging                  what was shed comes back at the tail when the talk turns to it
"""
