"""What models are made of. `torchlike.nn.functional` has the functions, under PyTorch's names.

Imported when first named: `import gradscribe` does not wait for it.
"""

from gradscribe.torchlike.nn import functional as functional
from gradscribe.torchlike.nn.parameter import Parameter as Parameter
