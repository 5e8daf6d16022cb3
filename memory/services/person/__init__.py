"""What a person asks of memory, and tells it, by name.

commands                find, look up, remember, pin, forget
fact_revision           a fact still holds, or this is what holds now
fact_decisions          what was decided of facts, kept so that it can be taken back
quarantine              where a memory came from; all that came from somewhere, out of the way and back
why                     why a session's newest request stands as it does
lives                   what a fact followed and what followed it, and how strong it was and will be
"""
