-- Whether a request offered its model tools: an agent is at work then, from the person's first word on.
ALTER TABLE exchanges ADD COLUMN tools INTEGER NOT NULL DEFAULT 0;
