"""Control flow: branches, loops, exceptions, contexts, patterns."""
