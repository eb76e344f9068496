"""`gs.autograd.profiler`: what each operation, and each node of a backward run, costs.

`profile` is the mode that measures while it is on, `events` what it has found.
"""
