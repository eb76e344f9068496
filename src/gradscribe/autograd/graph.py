"""`gs.autograd.graph`: nodes, edges, hooks on several Tensors, hooks on what is saved."""

from gradscribe.runtime.graph.node import GradientEdge
from gradscribe.runtime.graph.virtual_node import Node
from gradscribe.runtime.operations.mutation import allow_mutation_on_saved_tensors
from gradscribe.runtime.tensors.edges import (
    get_gradient_edge,
    increment_version,
    register_multi_grad_hook,
)
from gradscribe.runtime.tensors.saved import (
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
