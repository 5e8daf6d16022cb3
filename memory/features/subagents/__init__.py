"""What sub-agents find out: kept, looked up, given to the next one.

research_worker         the worker that ties a sub-agent to what sent it and writes down what it found
forgetting              a research goes, with all that was asked for it
findings                what a new sub-agent is given of it
library                 research for a person or a model: search, list, what is stale, what using it again saved
research_index          where it stands in the index (research_passages: as which texts)
folders                 the files that it read, looked at inside the folders that are allowed
records                 research as an export writes and an import reads it
journal_port            what all of these need of the journal
report                  research as JSON
"""
