"""Arrays as loops over their elements.

Assumes a bufferized function. Guarantees the same results, to the rounding of sums: what is
computed of arrays element by element, what is read and stored in parts, and sums, are loops over
elements that are read and stored one by one. A value that is used once is computed where it is
used, in the same loop, where nothing that it is computed of is stored to in between; any other is
stored in an array of its own. Where lengths must agree that are not known to, the function asserts
it first. Nothing here assumes by what the loops are run.

    roots.py      which arrays may share memory
    virtual.py    which values need no memory
    indices.py    where an element of a part of an array is
    lengths.py    how long the axes are
    elements.py   what an element is computed of
    lowering.py   operations on arrays, as loops
"""

from gradscribe.transforms.kernels.errors import NotLoopsError
from gradscribe.transforms.kernels.lowering import in_loops

__all__ = ["NotLoopsError", "in_loops"]
