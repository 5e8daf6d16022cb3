"""Keep a request within its model's window.

fitting                 one request: what leaves it, what comes back to it, and how large it is then
request_size  counting  how large it is with its edits, in tokens as we count them, and what it may take
usage_calibration       the same as the provider counts them
shedding                what leaves: gathered, planned by the pure rooms, given back as a decision
sheddable_parts         what may leave at all, and what is pinned
decision                a plan as it is to be written into the ledger
late_plans              plans that are not ready in time
paging                  what was shed comes back at the tail when the talk turns to it
"""
