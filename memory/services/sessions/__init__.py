"""Which session a request belongs to, and what is kept of those that are alive.

session_matching        whose request it is: by a runtime's own id, else by the trail of a history
continuation            whether a request goes on with a session
live                    a session that is alive, with its ledger
rewritten_history       whose history it is that its client has written anew
shared_errands          errands that were given through another replica
subagent_detection      which new session is a sub-agent, and of what errand
"""
