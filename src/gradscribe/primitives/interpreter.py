"""Functions that tell of the interpreter, which runs another program than the user's, and those
that start another thread in it."""

import _thread
import gc
import inspect
import sys
import traceback

TELLING = (
    *(sys.getrefcount, sys._getframe, sys._current_frames, inspect.currentframe, inspect.stack),
    *(gc.get_referrers, gc.get_referents, gc.get_objects),
    *(traceback.format_exc, traceback.format_exception, traceback.format_stack),
    *(traceback.format_tb, traceback.extract_stack, traceback.extract_tb),
    *(traceback.walk_stack, traceback.walk_tb),
)
"""What they give is another thing where a function is compiled, or recorded."""

STARTING = frozenset(
    function
    for name in ("start_new_thread", "start_new", "start_joinable_thread")
    if (function := getattr(_thread, name, None)) is not None
)
"""What they are given runs in another thread."""
