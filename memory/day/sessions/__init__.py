"""Which session a request belongs to, and what is kept of those that are alive.

finding                 whose request it is: by a runtime's own id, else by the trail of a history
continuing              whether a request goes on with a session
live                    a session that is alive, with its ledger
familiar                whose history it is that its client has written anew
spawned                 which new session is a sub-agent, and of what errand
offering                memory's tools, offered for the length of a session
"""
