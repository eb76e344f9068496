"""A compiled function is one node; its outputs may be several, and numbers."""

import numpy as np
import pytest

from gradscribe import autograd
from gradscribe.runtime import namespace as gs
from gradscribe.runtime.operations.eager import apply_compiled, compiled_kernel


class Polar:
    """(x, y, k) -> (x * y, sum(x), k): two differentiable outputs, one of them a number."""

    name = "Polar"
    active = (0, 1)
    outputs = (0, 1)
    record_inputs = (0, 1)
    record_outputs = ()
    higher_inputs = (0, 1)
    linear = False
    keeps_values = True
    has_given_rules = has_choices = False
    reached = (frozenset({0, 1}), frozenset({0}))

    def __init__(self):
        self.seeds = []

    def forward(self, x, y, k):
        return (x * y, float(x.sum()), k), (x, y)

    def adjoint(self, record, d_product, d_sum):
        x, y = record
        self.seeds.append((d_product.tolist(), d_sum))
        return d_product * y + d_sum, d_product * x

    def order(self, n):
        assert n == 2
        return lambda x, y, k, d, e, u_x, u_y, u_d, u_e: (
            u_d * y + d * u_y + u_e,
            u_d * x + d * u_x,
            u_x * y + x * u_y,
            u_x.sum(),
        )


@pytest.fixture
def polar():
    derivatives = Polar()
    kernel = compiled_kernel(derivatives, (0, 1), 3)
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = gs.tensor([3.0, 4.0], requires_grad=True)
    return derivatives, x, y, apply_compiled(kernel, (x, y, 7))


def test_outputs_are_wired_to_one_node(polar):
    _, x, y, (product, total, k) = polar
    assert product.grad_fn is total.grad_fn
    assert product.grad_fn.name() == "PolarBackward"
    assert repr(total) == "tensor(3., grad_fn=<PolarBackward>)"
    assert (product.output_nr, total.output_nr, k) == (0, 1, 7)
    nodes = [node for node, _ in product.grad_fn.next_functions]
    assert [node.variable for node in nodes] == [x, y]


def test_all_cotangents_arrive_at_once(polar):
    derivatives, x, y, (product, total, _) = polar
    (product.sum() + total * 10).backward()
    assert derivatives.seeds == [([1, 1], 10.0)]
    assert type(derivatives.seeds[0][1]) is float
    assert (x.grad.tolist(), y.grad.tolist()) == ([13, 14], [1, 2])


def test_missing_cotangents_are_zeros_of_their_type(polar):
    derivatives, x, _y, (_product, total, _) = polar
    total.backward()
    assert derivatives.seeds == [([0, 0], 1.0)]
    assert x.grad.tolist() == [1, 1]


def test_the_second_derivative_is_the_tangent_of_the_gradient(polar):
    _, x, y, (product, total, _) = polar
    d_x, _d_y = autograd.grad((product * product).sum() + total, (x, y), create_graph=True)
    d_xx, d_xy = autograd.grad(d_x.sum(), (x, y))
    assert d_x.tolist() == [2 * 9 + 1, 2 * 2 * 16 + 1]
    assert d_xx.tolist() == [2 * 9, 2 * 16]
    assert d_xy.tolist() == [4 * 3, 4 * 2 * 4]


def test_a_freed_compiled_node_is_refused(polar):
    _, _x, _y, (product, total, _) = polar
    total.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        product.sum().backward()


def test_an_argument_changed_in_place_is_noticed(polar):
    _, _x, y, (product, _, _) = polar
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_retain_grad_and_hooks_of_outputs(polar):
    _, _x, _y, (product, _, _) = polar
    seen = []
    product.retain_grad()
    product.register_hook(lambda grad: seen.append(grad.tolist()))
    (product * 2).sum().backward()
    assert product.grad.tolist() == [2, 2]
    assert seen == [[2, 2]]


def test_plain_arrays_stay_outside_the_graph():
    class Scale(Polar):
        active, outputs, record_inputs = (0,), (0,), (1,)

        def forward(self, x, y, k):
            return (x * y,), (y,)

        def adjoint(self, record, d):
            return (d * record[0],)

    x = gs.ones(2, requires_grad=True)
    kernel = compiled_kernel(Scale(), (0,), 3)
    (out,) = apply_compiled(kernel, (x, np.array([2.0, 3.0]), 1))
    assert len(out.grad_fn.next_functions) == 1
    out.sum().backward()
    assert x.grad.tolist() == [2, 3]


def test_one_output_is_differentiated_twice():
    class Square(Polar):
        active, outputs, record_inputs, higher_inputs = (0,), (0,), (0,), (0,)

        def forward(self, x):
            return (x * x,), (x,)

        def adjoint(self, record, d):
            return (2 * d * record[0],)

        def order(self, n):
            return lambda x, d, u_x, u_d: (2 * u_d * x + 2 * d * u_x, 2 * x * u_x)

    x = gs.tensor([3.0], requires_grad=True)
    (out,) = apply_compiled(compiled_kernel(Square(), (0,), 1), (x,))
    (d_x,) = autograd.grad(out, x, create_graph=True)
    assert (d_x.tolist(), autograd.grad(d_x, x)[0].tolist()) == ([6], [2])
