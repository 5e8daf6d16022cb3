"""Memories taken elsewhere, and taken in from elsewhere.

exporting  importing    everything that is remembered of a person, out and in; a person's notes for their agents
records    research     memories, and research, as plain values
replaying               a recorded session of an agent, as if it had come through
session_view            a session as it was last forwarded
"""
