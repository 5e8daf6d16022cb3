"""Which session a request belongs to, and what is kept of those that are alive.

session_matching        whose request it is: by a runtime's own id, else by the trail of a history; what was added to a
                        message, at the one in which its client says the same anew
namespaces              in whose name: no other owner's request comes upon a session
continuation            whether a request goes on with a session
live, live_sessions     a session that is alive, with its ledger; those that are kept in memory, and what of their
                        ledgers is to be taken back from the journal
ledger_saving           their ledgers into the journal
replica_agreement       what other processes have written, and decisions agreed with them
subagent_detection      which new session is a sub-agent, and of what errand, also of one given through another replica
"""
