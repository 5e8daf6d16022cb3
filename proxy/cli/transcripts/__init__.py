"""What agent runtimes keep of their sessions on this machine, read into one shape.

    transcript.py            the shape: a session's messages in a wire format's own words, each with its time
    claude_code.py           ~/.claude/projects/<folder>/<session>.jsonl, and its sub-agents' files
    codex.py                 ~/.codex/sessions/<year>/<month>/<day>/rollout-….jsonl
    opencode.py              ~/.local/share/opencode/opencode.db, and the files of versions before 1.2
    chats.py                 exports of ChatGPT and Claude.ai, zipped or not
    notebook.py              a folder of a person's own Markdown
    found.py                 which files there are, and what each of them is

A message is kept as the runtime would send it, so that the server reads it like any request. A line that cannot be
read is told, and the rest goes on.
"""
