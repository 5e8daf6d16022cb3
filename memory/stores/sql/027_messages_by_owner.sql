-- What a person said, newest first: nights look for what recurs in it, whoever else talks on the same server.
CREATE INDEX passages_said ON passages (owner, number) WHERE speaker = 'user';
