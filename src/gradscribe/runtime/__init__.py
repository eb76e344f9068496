"""Tensors, the graph that operations on them record, and the engine that runs it backwards.

In reading order: `tensor` (one array and its place in the graph), `node`, `kernel` and
`operation` (what is recorded), `eager` (how, and the seam to the compiler), `functions` and
`shaping` (the table of operations), `engine` and `backward` (how gradients are computed),
`views` and `inplace`, `function` and `function_node` (custom operations), `creation`,
`randomness`, `printing`; then what stands on these: `modes` (what watches operations), of which
`anomaly`, `saved`, `inference` and `dual` are some, `functional`, `checkpoint`, `graph`, `trace`.
"""

from gradscribe.runtime import methods as _methods  # attaches the methods to Tensor
from gradscribe.runtime.tensor import Tensor

__all__ = ["Tensor"]
del _methods
