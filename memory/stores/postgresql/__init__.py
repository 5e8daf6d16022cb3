"""The journal in PostgreSQL, for one who has more than a machine: the same parts over another engine.

dialect                 statements as PostgreSQL takes them
adaptation              how values are sent and read
connection              psycopg's connection, in the shape that the parts ask for
faults                  what PostgreSQL reports, in a sentence
schema                  the one series of migrations, and what only PostgreSQL has
changes                 what has changed since this process looked: its caches are told
committing              whether a COMMIT whose answer was lost was done
attending               threads with a connection of their own: one hears of changes at once
lease                   which process has the database, or does the work of its replicas; whose an index is
writer                  the thread that writes
reading                 a look at it by a process that writes nothing
database                the writer, the readers, and their async face
moving                  from a file into a database, and back
table_copying           the tables of that, row by row, and checked
journal                 the journal, put together
"""
