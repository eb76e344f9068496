"""Source and trees: from a function to its tree; which names in it are bound and read."""
