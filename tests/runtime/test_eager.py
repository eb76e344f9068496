"""The seam: what the runtime asks of the compiler, and when."""

import operator

import numpy as np
import pytest

from gradscribe.ir.core import Operand, SliceOf
from gradscribe.runtime import namespace as gs
from gradscribe.runtime.arrays import composites
from gradscribe.runtime.operations import eager


class Asked:
    """A provider that notes what it is asked for; what it answers gives zero gradients."""

    def __init__(self):
        self.calls = []

    def __call__(self, callee, args, kwargs, leaves, active):
        self.calls.append((callee, args, dict(kwargs), list(leaves), active))

        class Zeros:
            name, outputs, record_inputs, record_outputs, linear = "Zeros", (0,), (), (), True
            by_operations = None
            keeps_values = False

            def __init__(self):
                self.active = active

            def forward(self, *given):
                return (np.zeros(2),), given

            def adjoint(self, record, d_out):
                return [np.zeros(np.shape(record[i])) for i in active]

            flow = adjoint

        return Zeros()


@pytest.fixture
def asked():
    provider = Asked()
    previous = eager.set_provider(provider)
    yield provider
    eager.set_provider(previous)


@pytest.fixture
def x():
    return gs.tensor([1.0, 2.0], requires_grad=True)


def test_operands_are_leaves(asked, x):
    y = gs.tensor([3.0, 4.0])
    x * y
    ((callee, args, kwargs, leaves, active),) = asked.calls
    assert callee is np.multiply
    assert args == (Operand(0), Operand(1))
    assert kwargs == {}
    assert leaves[0] is x.array and leaves[1] is y.array
    assert active == (0,)


def test_other_arguments_are_static(asked):
    x = gs.ones(2, 3, requires_grad=True)
    x.sum(1, keepdim=True)
    ((callee, args, kwargs, _, _),) = asked.calls
    assert (callee, args, kwargs) == (np.sum, (Operand(0),), {"axis": 1, "keepdims": True})


def test_integers_of_indices_and_shapes_are_leaves(asked):
    x = gs.ones(4, 5, requires_grad=True)
    x[1, 2:, None]
    x.reshape(2, -1)
    (callee, args, _, leaves, active), (_, reshape_args, _, reshape_leaves, _) = asked.calls
    assert callee is operator.getitem
    assert args == (Operand(0), (Operand(1), SliceOf(Operand(2), None, None), None, Ellipsis))
    assert (leaves[1:], active) == ([1, 2], (0,))
    assert reshape_args == (Operand(0), (Operand(1), -1))
    assert reshape_leaves[1:] == [2]


def test_nothing_is_compiled_for_the_number_of_tensors_that_are_joined(asked, x):
    for count in (2, 3, 50):
        for join in (gs.cat, gs.stack, np.concatenate, np.stack, np.hstack):
            assert join([x, *[x.detach()] * count]).requires_grad
    assert asked.calls == []


def test_composites_are_plain_python_functions(asked, x):
    x.logsumexp(0)
    assert asked.calls[0][0] is composites.logsumexp


def test_the_compiler_is_asked_once_for_each_dtype_shape_and_set_of_active_leaves(asked, x):
    for _ in range(3):
        x * x
    assert len(asked.calls) == 1
    x.detach() * x
    gs.ones(3, requires_grad=True) * 2.0
    gs.ones(3, requires_grad=True) * 3.0
    gs.ones(3, requires_grad=True) * 3
    gs.ones(3, dtype=gs.float32, requires_grad=True) * 3
    assert [call[4] for call in asked.calls] == [(0, 1), (1,), (0,), (0,), (0,)]


def test_numbers_are_passed_at_each_call(asked, x):
    assert [(x * factor).grad_fn.leaves[1] for factor in (2.0, 3.0)] == [2.0, 3.0]
    assert len(asked.calls) == 1


def test_nothing_is_asked_where_nothing_is_recorded(asked, x):
    x.detach() * 2
    with gs.no_grad():
        x * 2
    x > 1
    x.argmax()
    assert asked.calls == []


def test_what_the_compiler_refuses_is_asked_again(x):
    def refuse(*_):
        refused.append(1)
        raise NotImplementedError("no")

    refused = []
    previous = eager.set_provider(refuse)
    try:
        for _ in range(2):
            with pytest.raises(NotImplementedError, match="no"):
                x.exp()
    finally:
        eager.set_provider(previous)
    assert len(refused) == 2
    assert x.exp().requires_grad


def test_linear_operations_keep_no_operand_alive(asked, x):
    y = x * 1.0
    kept = y.grad_fn.leaves[0]
    assert kept.shape == (2,)
    assert kept.strides == (0,)


def test_views_are_what_numpy_returns():
    x = gs.ones(2, 3, requires_grad=True)
    for view in (x[0], x[0, 1], x.t(), x.view(6), x.expand(4, 2, 3), x.unsqueeze(0), x[:, ::2]):
        assert np.shares_memory(view.array, x.array)
        assert view._base is x
    assert not np.shares_memory(x.t().reshape(6).array, x.array)
    assert x.t().reshape(6)._base is None


def test_a_number_minus_a_tensor_is_a_reflected_node() -> None:
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    assert (1 - x).grad_fn.name() == "RsubBackward1"
    assert (x - 1).grad_fn.name() == "SubBackward0"


def test_flags_of_python_are_operands():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x * True + (0 - x) * 3 + (x + True) ** 2 + gs.where(True, x, 0)
    y.sum().backward()
    assert y.tolist() == [3.0, 7.0]
    assert x.grad.tolist() == [3.0, 5.0]
    x = gs.tensor([1.0], dtype=gs.float32, requires_grad=True)
    assert (True * x).dtype == gs.float32


def test_numbers_that_are_equal_but_of_other_classes_are_recorded_apart():
    x = gs.ones(3, requires_grad=True)
    assert gs.threshold(x, 1 + 0j, 1 + 0j).dtype == gs.complex128
    assert gs.threshold(x, 1.0, 1.0).dtype == gs.float64
