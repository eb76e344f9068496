"""`gs.utils`: what is used beside Tensors."""

from gradscribe.utils import checkpoint as checkpoint
from gradscribe.utils import dlpack as dlpack
from gradscribe.utils import hooks as hooks
