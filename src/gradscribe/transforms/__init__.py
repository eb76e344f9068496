"""IR in, IR out: one transform per module, each with what it assumes and guarantees."""
