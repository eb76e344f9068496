"""`gs.nn`: what models are made of. `gs.nn.functional` has the functions, under PyTorch's names.

Imported when first named: `import gradscribe` does not wait for it.
"""

from gradscribe.nn import functional as functional
from gradscribe.nn.parameter import Parameter as Parameter
