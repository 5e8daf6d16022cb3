"""How a machine keeps the server running from login to logout: what is written for that, and what is run.

``installation`` has the nouns; ``systemd`` and ``launchd`` make one each, as a value. ``proxy/cli/service.py`` carries
it out.
"""
