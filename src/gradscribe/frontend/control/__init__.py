"""Control flow: loops, exceptions, contexts, patterns."""
