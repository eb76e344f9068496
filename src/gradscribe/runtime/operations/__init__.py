"""The rows of the table of operations, how a call of one is run and recorded, and its node."""
