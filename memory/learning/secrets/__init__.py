"""Where secrets stand in text, and what they look like.

`private_keys` finds keys by their armour and encoding, `issued` by the prefix that a provider gave them (the table is
in `prefixes`), `locations` by their place (URIs, headers, cookies), `commands` by the flag that hands them to a program
(the table is in `programs`), `assignments` by the name beside them; `values` judges whether a value is one. `numbers`
finds those of cards, accounts and people, where the settings ask for it. Each `find_…` yields spans of the text;
:mod:`memory.learning.redact` takes them out.
"""
