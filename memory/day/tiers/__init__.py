"""The lower tiers of what may be shed: made after the exchange, and given back by their handles, whole or in short.

tiering                 the worker that makes L0 and L1
content                 what a stub stands for, in any tier, for the person whose it is
"""
