"""Recorded runs: a user's function runs as it is, on arrays and numbers that record each NumPy
call, and is differentiated from what they recorded. It is the way out where a function cannot be
compiled.

What comes in are functions and plain values in any nesting, what goes out are plain values; see
`runs.vjp` and `runs.jvp`. The rules are the compiler's: each call becomes one of its
`Derivatives` (`calls`), which a `Traced` value remembers for each derivative that is being taken
(`levels`). The user's function sees `RecordedArray` and `RecordedNumber` (`arrays`, `numbers`),
which look like NumPy's and Python's, and may be stored to. Calls that NumPy's protocols do not tell
of are followed where the source can be read (`following`, `callees`).
"""
