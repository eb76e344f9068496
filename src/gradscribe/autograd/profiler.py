"""`gs.autograd.profiler`: what the operations of a run, and of its backward, cost."""

from gradscribe.runtime.modes.events import EventList, FunctionEvent, FunctionEventAvg
from gradscribe.runtime.modes.profile import profile, record_function
from gradscribe.runtime.modes.ranges import emit_nvtx

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "emit_nvtx",
    "profile",
    "record_function",
]
