"""`gs.utils.checkpoint`: save memory by running parts of the forward run again."""

from gradscribe.runtime.checkpoint import (
    CheckpointFunction,
    checkpoint,
    checkpoint_sequential,
)
from gradscribe.runtime.recomputation import (
    CheckpointError,
    GraphExecGroup,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "GraphExecGroup",
    "checkpoint",
    "checkpoint_sequential",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]
