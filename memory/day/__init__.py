"""The shells of the day: each awaits what the pure rooms decide.

request                 a request of a session: what these shells hand on to each other
prepare                 a request: which edits it needs
  deciding              what is added to its newest message, once; given: who finds it; deadline: until when
  shortening            what the provider has refused as too long, made smaller
  ledgers               what was decided is written, beside the request
note                    a reply: into the journal before its end is seen
learn                   the journal: facts and passages, by a worker beside the requests
recall                  what memory holds for a moment
tools                   a model asks memory, or tells it

sessions                whose request it is                        window    how it stays within its model's window
search                  what recall asks of the stores             lessons   what an exchange teaches beside its facts
tiers                   what was shed, in short and whole          page      MEMORY.md
person                  find, look up, remember, pin, forget       approval  candidates, and the files that they become
research                what sub-agents found                      moving    export, import, replay
assisted                what a language model may do better

beside                  one task that runs beside the requests
own_words               a fact out of what a person says outside any session
warming  reindexing     read beforehand what requests need; make the index anew beside the old one
retaining               let go of what is older than a person wants to keep
"""
