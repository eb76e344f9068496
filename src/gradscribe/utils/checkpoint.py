"""`gs.utils.checkpoint`: save memory by running parts of the forward run again."""

from typing import NoReturn

from gradscribe.runtime.absent import absent_from_checkpoints
from gradscribe.runtime.modes.checkpoint import (
    CheckpointFunction,
    check_backward_validity,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    noop_context_fn,
)
from gradscribe.runtime.modes.recomputation import (
    CheckpointError,
    GraphExecGroup,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "GraphExecGroup",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]


def __getattr__(name: str) -> NoReturn:
    raise absent_from_checkpoints(name)
