"""What a message says: one file per dialect, raw JSON slices in, typed messages out. Nothing here raises on a kind
of item or part that it does not know: that becomes :class:`~memory.conversation.Opaque`."""
