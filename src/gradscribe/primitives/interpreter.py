"""Functions that tell of the interpreter, which runs another program than the user's."""

import gc
import inspect
import sys

TELLING = (
    *(sys.getrefcount, sys._getframe, sys._current_frames, inspect.currentframe, inspect.stack),
    *(gc.get_referrers, gc.get_referents, gc.get_objects),
)
"""What they give is another thing where a function is compiled, or recorded."""
