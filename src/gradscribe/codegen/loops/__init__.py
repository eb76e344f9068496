"""The native tier: functions as loops over scalars, in the subset of Python that Numba compiles.

    checks.py      what of the IR can be said there, or why not
    integers.py    which integers are known to need no more than 64 bits
    classes.py     which numbers are Python's, and which NumPy's
    lists.py       lists, whose items have one type
    rewriting.py   the statements that `codegen` writes, in that subset
    slabs.py       records of loops as arrays, where it is known how long they get
    simd.py        mathematics in loops that can be vector code
    emit.py        the text
    checked.py     Python's mathematics, which raises where Python's does
    cache.py       compiled code of other processes: which it is, and whether it can be run here
    cache_files.py its files, in the user's cache folder
    vectorized/    elementwise mathematics, as code that LLVM vectorizes
    native.py      compiled when it is first called; NumPy's tier where it cannot, or must not, run

The text is that of the NumPy tier but for what Numba has not (`reversed`, dicts of records). It
raises nothing that users see: whatever it meets that Python, or NumPy, may raise or warn of, it
leaves, and the NumPy tier runs the call again. It writes to no argument, so nothing has happened.
"""

from gradscribe.codegen.loops.checks import Refusal, refusal
from gradscribe.codegen.loops.emit import emit_loops
from gradscribe.codegen.loops.native import Native, require_numba

__all__ = ["Native", "Refusal", "emit_loops", "refusal", "require_numba"]
