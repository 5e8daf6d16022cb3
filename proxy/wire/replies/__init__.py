"""What a reply says: one file per dialect, a whole document or a stream's events in, a Reply out. Garbage in gives an
incomplete reply, never an error: a reply is relayed whether or not we understand it."""
