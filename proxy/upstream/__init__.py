"""The way to the provider: ``direct`` sends bytes and receives bytes."""
