"""`gs.utils`: what is used beside Tensors."""

from gradscribe.utils import checkpoint as checkpoint
