"""Application services: each does the I/O around decisions that the pure packages make.

request                 a request of a session: what these shells hand on to each other
prepare                 a request: which edits it needs
  deciding              what is added to its newest message, once; context_sources: who finds it
  time_limits, deadline how long it and each of its steps may take
  shortening            what the provider has refused as too long, made smaller
  ledger_writer         what was decided is written, beside the request
journaling              a reply: into the journal before its end is seen
learn                   the journal: facts and passages, by a worker beside the requests
recall                  what memory holds for a moment
tool_calls              a model asks memory, or tells it: for whom, and who answers

sessions                whose request it is                        window    how it stays within its model's window
search                  what recall asks of the stores             lessons   what an exchange teaches beside its facts
tiers                   what was shed, in short and whole          page      MEMORY.md
person                  find, look up, remember, pin, forget
transfer                export, import, replay
background_task         one task that runs beside the requests
manual_facts            a fact out of what a person says outside any session
cache_warming  reindexing  read beforehand what requests need; make the index anew beside the old one
retention               let go of what is older than a person wants to keep
"""
