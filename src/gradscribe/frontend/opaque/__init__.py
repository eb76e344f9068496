"""Calls of code that cannot be read, or is run as it is: what it may do with memory."""
