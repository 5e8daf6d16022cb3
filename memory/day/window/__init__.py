"""Keep a request within its model's window.

fitting                 one request: how large it is, what leaves it, what comes back to it
counting  reported      tokens as we count them, and as the provider does
shedding                what leaves: gathered, planned by the pure rooms, written down as decisions
paging                  what was shed comes back at the tail when the talk turns to it
"""
