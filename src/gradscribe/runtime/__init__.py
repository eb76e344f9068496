"""Tensors, the graph that operations on them record, and the engine that runs it backwards.

In reading order: `tensors.tensor` (one array and its place in the graph); `graph.node`, `kernel`
and `operation` (what is recorded); `functions.eager` (how, and the seam to the compiler), `common`
and `shaping` (the tables of operations); `graph.engine` and `backward` (how gradients are
computed); `tensors.views` and `inplace`; `graph.function`, `function_context` and `function_node`
(custom operations); then what stands on these: `graph.modes` (what watches operations), of which
`anomaly`, `saved`, `inference` and `dual` are some, `functional`, `gradcheck`, `checkpoint`.
"""

from gradscribe.runtime import methods as _methods
from gradscribe.runtime.tensors.tensor import Tensor

__all__ = ["Tensor"]
del _methods
