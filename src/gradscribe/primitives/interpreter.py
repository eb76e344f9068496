"""Functions that tell of the interpreter, which runs another program than the user's, and those
that start another thread in it."""

import _thread
import gc
import inspect
import sys
import traceback
from collections.abc import Mapping
from typing import Any

TELLING = (
    *(sys.getrefcount, sys._getframe, sys._current_frames, inspect.currentframe, inspect.stack),
    *(gc.get_referrers, gc.get_referents, gc.get_objects),
    *(traceback.format_exc, traceback.format_exception, traceback.format_stack),
    *(traceback.format_tb, traceback.extract_stack, traceback.extract_tb),
    *(traceback.walk_stack, traceback.walk_tb),
)
"""What they give is another thing where a function is compiled, or recorded."""

_BY_PLACE = ("default", "module", "once")


def asks_for_places(given: Mapping[str, Any], is_recording: bool) -> bool:
    """Whether a filter of warnings, of these arguments, tells them apart by where they come from.
    is_recording: whether the program counts those that are shown."""
    is_by_name = given.get("module", "") != "" or given.get("lineno", 0) != 0
    return is_by_name or (is_recording and given.get("action") in _BY_PLACE)


STARTING = frozenset(
    function
    for name in ("start_new_thread", "start_new", "start_joinable_thread")
    if (function := getattr(_thread, name, None)) is not None
)
"""What they are given runs in another thread."""
