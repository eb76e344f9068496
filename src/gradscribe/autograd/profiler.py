"""`gs.autograd.profiler`: what the operations of a run, and of its backward, cost."""

from gradscribe.runtime.profiling.events import EventList, FunctionEvent, FunctionEventAvg
from gradscribe.runtime.profiling.profile import profile, record_function
from gradscribe.runtime.profiling.ranges import emit_nvtx

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "emit_nvtx",
    "profile",
    "record_function",
]
