"""What is learnt in a checkout knows its code: the branch that it holds on, and what it cites.

finding                 where they stand in a checkout, when something is learnt
declared                which tools and versions a checkout's manifests name, and what a text says against them
files                   reads a checkout's files, inside of it only, and nothing ignored or secret-like
conventions             what a project's own files say of how it is worked on
own_files               the same as facts, when the main branch has moved
tracked                 what a project has approved, as a file of its repository
committers              who committed the lines of a file
sharing                 that file given out, and others' taken as proposals
git                     asks git, never while a request waits
looking                 a checkout as it stands: branch, commit, files, renames
branches                what has become of a branch: open, merged, reverted, dropped
checking                citations looked up again, in the time that a request has for it
sight                   checkouts as they stand, kept up to date beside requests
rows                    where memories were learnt, at hand, and as an export and an import have it
marking                 the words behind a memory that is shown, and what it counts for then
commands                ``palimpsest branches``
"""
