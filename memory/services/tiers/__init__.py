"""The lower tiers of what may be shed: made after the exchange, and given back by their handles, whole or in short.

tiering                 the worker that makes L0 and L1
in_short                the rules by which texts are made shorter, read behind the start
content                 what a stub stands for, in any tier, for the person whose it is
"""
