"""At night: what should stay. A night is planned here as a value; a shell reads, writes and keeps the clock."""
