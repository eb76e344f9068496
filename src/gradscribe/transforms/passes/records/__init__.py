"""Records: the lists by which a loop hands values to its mirror, shortened and packed."""
