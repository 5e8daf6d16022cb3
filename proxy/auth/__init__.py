"""Who comes in, on every path: asked before a body is read, and before anything is forwarded.

============== ==============================================================================
``sites``       which host names are ours, which web pages may ask, and what CORS tells them
``middleware``  the same, as what every request passes first
``target``      a request's target as one plain path; variants that could hide a key are refused
``keys``        the key of this installation, and which texts are secrets of ours
``peer``        whether a connection comes from a process of our own user
``sockets``     who has a socket of this machine
``visitors``    who looks at the web page: tickets, and the sessions they are traded for
============== ==============================================================================
"""
