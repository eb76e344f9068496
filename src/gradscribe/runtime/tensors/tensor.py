"""`Tensor`: one array, and its place in the recorded graph.

A Tensor owns no computation. Its operators and methods are entries of the table in
`functions.py`, which `methods.py` attaches to the class; `eager.py` runs and records them. Here
stand the attributes: the array, whether and how it takes part in differentiation, versions.

Views share memory and the version counter, a list of one integer that every in-place operation
increases; a node that kept a value compares the counter with what it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import ref

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.kinds import Kind, kind_of_array
from gradscribe.runtime.arrays.printing import tensor_text
from gradscribe.runtime.arrays.size import Size, sizes
from gradscribe.runtime.graph.hooks import WATCHED, Hook, HookTable, RemovableHandle
from gradscribe.runtime.graph.inference import REQUIRED, is_inference, refuse_requiring
from gradscribe.runtime.graph.modes import MODES, tangent_of, tell_detached, tell_made, tell_moved
from gradscribe.runtime.graph.node import NO_EDGE, AccumulateGrad, Edge, Node, new_accumulator
from gradscribe.runtime.graph.variable import Showing
from gradscribe.runtime.tensors.array_methods import Array as Array
from gradscribe.runtime.tensors.array_methods import ArrayMethods
from gradscribe.runtime.tensors.gradients import OWN, GradientAttributes
from gradscribe.runtime.tensors.legacy import LegacyAttributes
from gradscribe.runtime.tensors.views import View

_FLAG_OF_NON_LEAF = "you can only change requires_grad flags of leaf variables."


Self = TypeVar("Self", bound="Tensor")


class LeafState:
    """What only some leaves have: the end of the graph (weakly), hooks, a dtype of the gradient
    that is not the leaf's."""

    __slots__ = ("__weakref__", "accumulator", "grad_dtype", "hooks", "post_accumulate")

    def __init__(self) -> None:
        self.grad_dtype: Any = OWN
        self.accumulator: Callable[[], Node | None] | None = None
        self.hooks: HookTable = {}
        self.post_accumulate: HookTable = {}


class Tensor(GradientAttributes, LegacyAttributes, ArrayMethods):
    """An array that operations on it may be recorded for. See `gs.tensor` to make one."""

    __slots__ = (
        "__dict__",  # attributes of the user's
        "__weakref__",
        "_counter",
        "_index",
        "_kind",
        "_leaf",
        "_needs_grad",
        "_node",
        "_view_of",
        "array",
    )

    _node: Node | None
    """The node that made this Tensor; as the user sees it, `grad_fn`."""
    _index: int
    """Which output of the node it is."""
    _needs_grad: bool | None
    """Whether it is a leaf that requires gradients, or was recorded. That is `requires_grad`, but
    for views, which do as well if their base does. For inference Tensors see `inference.py`."""
    _counter: list[int]
    """The version, shared by views of the same memory."""
    _view_of: View | None
    """For a differentiable view: its base, and how to take it again."""
    _leaf: LeafState | None
    _kind: Kind | None
    """That of the array, where it has been asked for since it was set."""

    __module__ = "gradscribe"  # where users find it
    __array_priority__ = 1000

    def __new__(cls: type[Self], *data: Any) -> Self:
        """Legacy: `Tensor([1, 2])` of the default dtype, or `Tensor(2, 3)` by its sizes."""
        tensor = object.__new__(cls)
        fill(tensor, legacy_array(data, dtypes.default()))
        return tensor

    def __init__(self, *data: Any) -> None:
        pass  # a class of the user's may have more to do

    # --- the place in the graph -----------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are computed with respect to this Tensor, or through it."""
        if self._view_of is not None:
            self._view_of.refresh(self)
            return bool(self._needs_grad) or self._view_of.base_requires_grad
        return bool(self._needs_grad)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise RuntimeError("requires_grad must be a bool")
        if value and not self.is_leaf:
            raise RuntimeError(_FLAG_OF_NON_LEAF)
        if value and not dtypes.is_differentiable(self.array.dtype):
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients"
            )
        self.requires_grad_(bool(value))

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` of a leaf, and return it."""
        if not isinstance(requires_grad, (bool, np.bool_)):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        if not self.is_leaf:
            if requires_grad:
                return self
            raise RuntimeError(
                f"{_FLAG_OF_NON_LEAF} If you want to use a computed variable in a subgraph that "
                "doesn't require differentiation use var_no_grad = var.detach()."
            )
        if requires_grad and not dtypes.is_differentiable(self.array.dtype):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if requires_grad:
            refuse_requiring(self)
        if is_inference(self):
            self._needs_grad = REQUIRED if requires_grad else None  # type: ignore[assignment]
        else:
            self._needs_grad = bool(requires_grad)
        return self

    @property
    def grad_fn(self) -> Any:
        """The node that made this Tensor; None for leaves."""
        node = self._node if self._view_of is None else producer(self)
        return None if node is None else node.public

    @property
    def is_leaf(self) -> bool:
        """Whether this Tensor was made by the user, or requires no gradient."""
        return (self._node if self._view_of is None else producer(self)) is None

    @property
    def output_nr(self) -> int:
        """Which output of `grad_fn` this is."""
        return self._index

    def retain_grad(self) -> None:
        """Let `backward` leave the gradient of this intermediate result in `grad`."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._node is not None:
            self._node.own_state().retained[self._index] = ref(self)

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this intermediate result."""
        if self._node is None or self._node.own_hooks is None:
            return False
        retained = self._node.own_hooks.retained.get(self._index)
        return retained is not None and retained() is self

    def register_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(gradient)` when the gradient of this Tensor is computed; what it returns,
        if not None, is used in its place."""
        self._check_hookable()
        node = self._node
        if node is None or node.own_hooks is None or self._index not in node.own_hooks.tensor_hooks:
            node = producer(self)  # after the first hook, those of a view stay where that one is
        if node is not None:
            return RemovableHandle(node.tensor_hooks(self._index), hook)
        return RemovableHandle(self._watched_leaf().hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(leaf)` whenever a gradient has been accumulated in this leaf."""
        self._check_hookable()
        if not self.is_leaf:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        return RemovableHandle(self._watched_leaf().post_accumulate, hook)

    def _check_hookable(self) -> None:
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")

    def _leaf_state(self) -> LeafState:
        """Hooks and the accumulator of a leaf, made when first asked for."""
        if self._leaf is None:
            self._leaf = LeafState()
        return self._leaf

    def _watched_leaf(self) -> LeafState:
        """The state of a leaf that is about to get a hook."""
        state = self._leaf_state()
        WATCHED.add(state)
        return state

    @property
    def data(self) -> Tensor:
        """The same memory outside the graph; changes through it go unnoticed."""
        result = wrap(self.array)
        if MODES:
            tell_made(result)
        return result

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self._needs_grad and not dtypes.is_differentiable(value.array.dtype):
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex "
                "dtype"
            )
        self.array = value.array
        self._kind = None

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    def detach(self) -> Tensor:
        """The same memory outside the graph; changes through it are noticed by `backward`."""
        detached = wrap(self.array)
        detached._counter = self._counter
        if is_inference(self):
            detached._needs_grad = None
        return detached

    def detach_(self) -> Tensor:
        """Take this Tensor itself out of the graph."""
        if self._is_view():
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set "
                "as True, gradients are views of DDP buckets, and hence detach_() cannot be "
                "called on these gradients. To fix this error, please refer to the "
                "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
            )
        self._node, self._index, self._needs_grad, self._view_of = None, 0, False, None
        if MODES:
            tell_detached(self, self)
        return self

    def _move(self, node: Node, index: int) -> None:
        """Make this Tensor, which was changed in place, the output of another node. Its hooks stay
        with the value that it was; it goes on retaining its gradient."""
        if self._node is not None and self.retains_grad:
            old = self._node.own_state().retained
            node.own_state().retained[index] = old.pop(self._index)
        self._node, self._index, self._needs_grad = node, index, True
        if MODES:
            tell_moved(self)

    @property
    def _version(self) -> int:
        if is_inference(self):
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._counter[0]

    def is_inference(self) -> bool:
        """Whether this Tensor was made in inference mode."""
        return is_inference(self)

    @property
    def _base(self) -> Tensor | None:
        return self._view_of.base if self._view_of is not None and self._is_view() else None

    def _is_view(self) -> bool:
        return self._view_of is not None and not self._view_of.is_of_itself

    @property
    def _backward_hooks(self) -> HookTable:
        return self._node.tensor_hooks(self._index) if self._node else self._leaf_state().hooks

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: HookTable | None) -> None:
        if self._node is not None:
            self._node.own_state().tensor_hooks[self._index] = {} if hooks is None else hooks
        else:
            self._watched_leaf().hooks = {} if hooks is None else hooks

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    @property
    def _post_accumulate_grad_hooks(self) -> HookTable | None:
        return None if self._leaf is None else self._leaf.post_accumulate or None

    def __array_wrap__(self, array: Array, context: Any = None, return_scalar: bool = False) -> Any:
        return wrap(np.asarray(array))

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Tensor, int, float, complex, np.generic)):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{type(element)}."
            )
        value = element.array if isinstance(element, Tensor) else element
        return bool(np.any(self.array == value))

    def __repr__(self) -> str:
        try:
            node = producer(self)
            name = "" if node is None else node.name()
        except RuntimeError:  # a view that cannot be taken again
            name = "Invalid"
        return tensor_text(self.array, name, self.requires_grad, tangent_of(self))


_new: Callable[[type[Tensor]], Tensor] = object.__new__


def fill(tensor: Tensor, array: Array) -> Tensor:
    """Make an allocated Tensor a leaf of this array."""
    tensor.array = array
    tensor._node = None
    tensor._index = 0
    tensor._needs_grad = False
    tensor._counter = [0]
    tensor._view_of = None
    tensor._grad = None
    tensor._leaf = None
    tensor._kind = None
    return tensor


def wrap(array: Array) -> Tensor:
    """A new leaf around this array (no copy), which requires no gradient."""
    return fill(_new(Tensor), array)


def wrap_result(array: Array, node: Node, index: int = 0) -> Tensor:
    """A new Tensor around this array, the output `index` of a node."""
    tensor = _new(Tensor)
    tensor.array = array
    tensor._node = node
    tensor._index = index
    tensor._needs_grad = True
    tensor._counter = [0]
    tensor._view_of = None
    tensor._grad = None
    tensor._leaf = None
    tensor._kind = None
    return tensor


Showing.kind, Showing.wrap = Tensor, wrap


def kind_of(tensor: Tensor) -> Kind:
    """The kind of the array of a Tensor."""
    kind = tensor._kind = kind_of_array(tensor.array)
    return kind


def rank_of(operand: Any) -> int:
    """How many axes a Tensor, an array or a number has."""
    return operand.array.ndim if isinstance(operand, Tensor) else np.ndim(operand)


def producer(tensor: Tensor) -> Node | None:
    """The node that made a Tensor, a view through the changes of its base; None for leaves."""
    if tensor._view_of is not None:
        tensor._view_of.refresh(tensor, placed=True)
    return tensor._node


def edge_of(tensor: Tensor) -> Edge:
    """Where the gradient of a Tensor that requires one goes."""
    node = tensor._node
    if node is not None:
        return node, tensor._index
    if not tensor._needs_grad:
        return NO_EDGE  # a view requires a gradient if its base does; it may not be recorded
    state = tensor._leaf
    if state is None:
        state = tensor._leaf_state()
    accumulator = None if state.accumulator is None else state.accumulator()
    if accumulator is None:
        accumulator = new_accumulator(tensor)
        state.accumulator = ref(accumulator)
    return accumulator, 0


def wrap_at(array: Array, edge: Edge) -> Tensor:
    """An array as a Tensor whose gradient goes along this edge: of a leaf the leaf itself, or, of
    another array, a leaf that ends where it does."""
    node, index = edge
    if node is None:
        return wrap(array)
    if not isinstance(node, AccumulateGrad):
        return wrap_result(array, node, index)
    if node.variable.array is array:
        variable: Tensor = node.variable
        return variable
    leaf = wrap(array)
    leaf._needs_grad = True
    leaf._leaf_state().accumulator = ref(node)
    return leaf


def legacy_array(data: tuple[Any, ...], dtype: dtypes.Dtype) -> Array:
    """The array that a typed constructor makes: of one sequence, or zeros of these sizes."""
    if len(data) == 1 and not isinstance(data[0], (int, Size)):
        (value,) = data
        return np.array(value.array if isinstance(value, Tensor) else value, dtype=dtype)
    return np.zeros(sizes(data) if data else (0,), dtype)
