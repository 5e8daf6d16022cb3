"""What a project's own files say of how it is worked on: its commands, its tools, its style, what CI runs. Pure.

Whoever can write a file of a checkout can write anything there. So nothing of a file is taken over as it stands: a
sentence of ours holds names, numbers and commands from it, each of a form that is known, and it is nobody's word.

observation             one such sentence, and the lines of the files that it rests on
commands                Makefile, justfile, scripts of package.json: what builds, tests, releases
tools                   manifests and lock files: what it is built with, and which versions
style                   .editorconfig and the settings of linters and formatters
linters                 what ESLint, Biome and golangci-lint are set to, in files of their own
ci                      what CI runs
observed                all of it
"""
