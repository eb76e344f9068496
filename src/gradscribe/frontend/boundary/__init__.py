"""The boundary of a compiled function: what it returns, and leaves changed outside."""
