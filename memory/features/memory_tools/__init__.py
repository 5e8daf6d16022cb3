"""Tools with which a model asks memory, or tells it something.

tools                   answers a call
offering                which sessions offer them, and the rounds that a client does not see
"""
