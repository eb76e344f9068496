"""`gs.utils.checkpoint`: save memory by running parts of the forward run again."""

from gradscribe.runtime.checkpoint import CheckpointError, checkpoint, checkpoint_sequential

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential"]
