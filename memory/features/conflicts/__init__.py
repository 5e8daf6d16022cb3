"""What contradicts what, and waits for a person to settle it."""
