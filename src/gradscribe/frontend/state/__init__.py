"""The state of a lowering: frames, what is known so far, trials, entries to other rooms."""
