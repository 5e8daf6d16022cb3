"""What a person decides about candidates, and the lasting files that an approval writes.

decisions               approve, reject, defer, take back; let a fact rise
write_plan              what an approval would write, as a value that is shown first
conventions             shared knowledge, as lines of CONVENTIONS.md or of an organisation's page
skills                  a habit, as a SKILL.md
skill_retirement        a skill that is followed no longer, out of its folder
"""
