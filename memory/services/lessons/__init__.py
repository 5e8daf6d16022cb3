"""What an exchange teaches beside what was said in it, and the indexes that follow it.

rules                   by which is learned, read behind the start
reinforcement           which of the memories that were shown were used
indexing                the search index, brought up to what is known
entity_graph            the names that stand in a memory, for going from name to name
"""
