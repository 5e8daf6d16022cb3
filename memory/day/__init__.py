"""The shells of the day: each awaits what the pure rooms decide.

prepare                 a request: which edits it needs            (sessions, recall, pages)
note                    a reply: into the journal before its end is seen
learn                   the journal: facts and passages            (indexing, tombstones)
commands                a person: search, remember, pin, forget
"""
