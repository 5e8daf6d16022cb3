"""What waits for a person to approve, what they decide, and the lasting files that an approval writes.

candidates              those that there are, what bears them out, and what was approved
decisions               approve, reject, defer, take back; let a fact rise
write_plan              what an approval would write, as a value that is shown first
conventions             shared knowledge, as lines of CONVENTIONS.md or of an organisation's page
convention_files        where those files lie, and what a line of them may be
managed_section         our section of such a file, and what others did to it
skills                  a habit, as a SKILL.md; one that is followed no longer, out of its folder
store                   the part of the journal that is its own (queries.sql), and candidates as records of an export
"""
