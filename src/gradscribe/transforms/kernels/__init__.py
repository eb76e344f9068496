"""Arrays as loops over their elements.

Assumes a bufferized function. Guarantees the same results, to the rounding of sums: what is
computed of arrays element by element, what is stored in parts, copies and reductions are loops over
elements that are read and stored one by one. A value that is used once is computed where it is
used, in the same loop, where nothing that it is computed of is stored to in between; any other is
stored in an array of its own. Where lengths must agree that are not known to, the function asserts
it first. Then loops over one range become one where they may, and arrays that are read only where
they are stored become numbers. Nothing here assumes by what the loops are run.

    roots.py        which arrays may share memory, and which are certainly one
    virtual.py      which values need no memory
    indices.py      where an element of a part of an array is
    lengths.py      how long the axes are
    elements.py     what an element is computed of
    nests.py        loops, one in another
    reductions.py   sums and their kind
    lowering.py     operations on arrays, as loops
    fusion.py       loops that become one
    contraction.py  arrays that become numbers
    errors.py       what is no loop
"""

from gradscribe.transforms.kernels.errors import NotLoopsError
from gradscribe.transforms.kernels.lowering import in_loops

__all__ = ["NotLoopsError", "in_loops"]
