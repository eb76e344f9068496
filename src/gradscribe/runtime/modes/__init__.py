"""What runs operations otherwise: custom Functions, forward mode, checkpoints, profiles."""
