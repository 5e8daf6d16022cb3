"""What is new is consolidated at night: planned beside the server, written whole, and taken back where a person wants.

runner                  when a night begins, and how it is applied and taken back
planner_process         starts the process that plans, and hears it
planner                 that process: reads snapshots, plans with consolidation
consolidation           what should stay, as a value: duplicates, contradictions, gist, days, fading
curating                a model, where one is set, goes over the plan
store                   nights in the journal's database, one transaction each (queries.sql)
snapshots               what a night looks at, read by another process (queries.sql)
report                  nights as JSON
"""
