"""Our own endpoints, below ``/palimpsest/`` and nowhere else.

``health`` and ``ready`` ask for nothing, ``metrics`` and ``api/…`` ask for the token. What one endpoint does stands in
a file of its own, and ``endpoints`` joins them; ``auth`` decides who comes in, ``params`` reads what they want,
``responses`` tells it in JSON.
"""
