"""In-place operations: versions, errors, and what they do to the graph."""

import copy
import pickle

import numpy as np
import pytest

from gradscribe import autograd
from gradscribe.autograd import grad
from gradscribe.errors import UnsupportedError
from gradscribe.runtime import namespace as gs


def leaf(*data):
    return gs.tensor(list(data), requires_grad=True)


def test_methods_with_an_underscore_change_the_tensor():
    x = gs.tensor([1.0, 2.0])
    alias = x
    assert x.add_(1) is x
    assert x.mul_(gs.tensor([2.0, 3.0])).tolist() == [4, 9]
    assert x.sub_(1).tolist() == [3, 8]
    assert x.div_(2).tolist() == [1.5, 4]
    assert x.zero_().tolist() == [0, 0]
    assert x.fill_(3).tolist() == [3, 3]
    assert x.copy_(gs.tensor([1.0, 0.0])).tolist() == [1, 0]
    assert x.sigmoid_().tolist() == pytest.approx([0.731058, 0.5], rel=1e-5)
    assert alias is x
    assert x._version == 8


def test_augmented_assignment_is_in_place():
    x = gs.zeros(2)
    alias = x
    x += 1
    x *= 3
    x -= 1
    x /= 2
    assert alias.tolist() == [1, 1]


def test_no_grad_allows_changing_leaves():
    w = leaf(1.0)
    with gs.no_grad():
        w -= 0.25
    assert w.tolist() == [0.75]
    assert w._version == 1
    assert w.is_leaf


@pytest.mark.parametrize(
    ("change", "whose"),
    [
        (lambda x: x.add_(1), "a leaf"),
        (lambda x: x.zero_(), "a leaf"),
        (lambda x: x.__setitem__([0], 1.0), "a leaf"),
        (lambda x: x.unsqueeze_(0), "a leaf"),
        (lambda x: x.__setitem__(0, 1.0), "a view of a leaf"),
        (lambda x: x[:1].add_(1), "a view of a leaf"),
    ],
)
def test_leaves_that_require_grad_are_not_changed(change, whose):
    with pytest.raises(RuntimeError) as error:
        change(leaf(1.0))
    assert str(error.value) == (
        f"{whose} Variable that requires grad is being used in an in-place operation."
    )


def test_a_matrix_that_requires_a_gradient_is_not_changed_in_place():
    a = gs.randn(3, 4, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        a.add_(1)


def test_views_of_leaves_that_require_grad_are_not_changed():
    with pytest.raises(RuntimeError) as error:
        leaf(1.0, 2.0)[0].add_(1)
    assert str(error.value) == (
        "a view of a leaf Variable that requires grad is being used in an in-place operation."
    )


def test_intermediate_results_may_be_changed():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.mul_(x)
    y.add_(1)
    assert y.grad_fn.name() == "AddBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [4, 8]


def test_an_in_place_operation_keeps_its_own_old_operand():
    x = leaf(3.0)
    y = x * 1
    y.pow_(2)
    y.backward()
    assert x.grad.tolist() == [6]


def test_a_plain_tensor_becomes_part_of_the_graph():
    w = leaf(2.0)
    total = gs.zeros(1)
    total += w * 3
    total += w
    assert total.requires_grad
    total.backward()
    assert w.grad.tolist() == [4]


def test_a_saved_input_that_was_changed_is_noticed():
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    x, y = a * 1, b * 1
    product = x * y
    x.detach()[0] = 1
    with pytest.raises(RuntimeError) as error:
        product.sum().backward()
    assert str(error.value) == (
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [torch.DoubleTensor [2]], which is output 0 of MulBackward0, is at version 1; "
        "expected version 0 instead. Hint: enable anomaly detection to find the operation that "
        "failed to compute its gradient, with gs.autograd.set_detect_anomaly(True)."
    )


def test_a_saved_output_that_was_changed_is_noticed():
    x = leaf(1.0)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="output 0 of ExpBackward0, is at version 1; expected"):
        y.backward()


def test_what_was_not_saved_may_be_changed():
    x = leaf(1.0)
    y = x * 1
    z = y + 1
    y.detach().zero_()
    z.backward()
    assert x.grad.tolist() == [1]


def test_versions_are_shared_by_views_and_detached_tensors():
    x = gs.zeros(4)
    view, detached, data = x[1:], x.detach(), x.data
    view.add_(1)
    assert (x._version, view._version, detached._version, data._version) == (1, 1, 1, 0)
    assert x.tolist() == [0, 1, 1, 1]


def test_shapes_and_dtypes_must_fit():
    with pytest.raises(RuntimeError) as error:
        gs.zeros(2).add_(gs.zeros(3, 2))
    assert str(error.value) == ("output with shape [2] doesn't match the broadcast shape [3, 2]")
    with pytest.raises(RuntimeError) as error:
        gs.tensor([1]).mul_(0.5)
    assert str(error.value) == "result type Double can't be cast to the desired output type Long"


def test_in_place_on_a_view_changes_the_base():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    v = y[1:]
    v.mul_(x[1:])
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    y.sum().backward()
    assert y.tolist() == [2, 8, 18]
    assert x.grad.tolist() == [2, 8, 12]


def test_views_follow_a_change_of_their_base():
    x = leaf(1.0, 2.0)
    y = x * 2
    v = y[0]
    y.mul_(x)
    v.backward()
    assert x.grad.tolist() == [4, 0]


def test_views_follow_a_change_through_another_view():
    x = leaf(1.0, 2.0)
    y = x * 1
    first, column = y[0], y.view(2, 1)
    column.mul_(3)
    first.backward()
    assert x.grad.tolist() == [3, 0]


def test_a_view_of_a_plain_tensor_may_take_in_gradients():
    w = leaf(2.0)
    table = gs.zeros(2, 2)
    row = table[1]
    row += w
    assert table.requires_grad
    (table * gs.tensor([[1.0, 1.0], [10.0, 100.0]])).sum().backward()
    assert w.grad.tolist() == [110]


def test_zeroing_cuts_the_gradient():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.zero_()
    y.sum().backward()
    assert x.grad.tolist() == [0, 0]


def test_expanded_memory_is_not_written():
    for change in (lambda x: x.add_(1), lambda x: x.zero_()):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            change(gs.zeros(1).expand(3))


def test_numpy_sees_in_place_changes():
    x = gs.zeros(2)
    a = x.numpy()
    x.add_(1)
    assert np.array_equal(a, [1, 1])


def test_a_tensor_keeps_its_memory():
    x = gs.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        x.resize_(2)
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        x.resize_as_(gs.ones(2))
    with pytest.raises(UnsupportedError, match="`resize_`, which gives a Tensor other memory"):
        x.detach().resize_as_(gs.ones(7))
    assert x.detach().resize_as_(x).shape == x.shape
    with pytest.raises(UnsupportedError, match="gives a Tensor other memory"):
        x.detach().resize_(2)
    with pytest.raises(UnsupportedError, match="gives a Tensor other memory"):
        x.detach().set_(gs.ones(2))


# -- axes in place -------------------------------------------------------------------------------


def test_axes_are_exchanged_in_place():
    x = gs.arange(6.0).reshape(2, 3)
    assert x.t_() is x
    assert (x.shape, x.stride(), x._version) == ((3, 2), (1, 3), 1)
    assert x.unsqueeze_(0).shape == (1, 3, 2)
    assert x.squeeze_().transpose_(0, 1).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_gradients_follow_axes_exchanged_in_place():
    x = gs.ones(2, 3, requires_grad=True)
    y = x * 2
    y.t_()
    assert y.grad_fn.name() == "TBackward1"
    (y * gs.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 4, 8], [2, 6, 10]]


def test_views_taken_before_axes_were_exchanged_stay_what_they_are():
    x = leaf(1.0, 2.0)
    y = gs.stack([x, 10 * x])
    row = y[0]
    y.t_()
    row.mul_(3)
    y[0].mul_(5)
    assert (row.tolist(), y.tolist()) == ([15, 6], [[15, 50], [6, 20]])
    (row + y[1]).sum().backward()
    assert x.grad.tolist() == [15, 3 + 3 + 10]


@pytest.mark.parametrize(
    ("rearrange", "gradient"),
    [
        (lambda x: x.t_(), [[1, 0], [2, 0], [3, 0]]),
        (lambda x: x.unsqueeze_(0), [[[1, 2, 3], [0, 0, 0]]]),
        (lambda x: x.t_().unsqueeze_(2), [[[1], [0]], [[2], [0]], [[3], [0]]]),
        (lambda x: x.as_strided_((2,), (1,)), [1, 2]),
    ],
)
@pytest.mark.parametrize("create_graph", [False, True])
def test_views_of_what_a_leaf_was_lead_to_what_it_is(rearrange, gradient, create_graph):
    x = gs.ones(2, 3, requires_grad=True)
    row = x[0]
    with gs.no_grad():
        rearrange(x)
    found = grad((row * gs.tensor([1.0, 2.0, 3.0])).sum(), x, create_graph=create_graph)
    assert found[0].tolist() == gradient
    (row * gs.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == gradient
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        row.mul_(2)


@pytest.mark.parametrize(
    ("rearrange", "shape"),
    [(lambda x: x.t_(), (3, 2)), (lambda x: x.unsqueeze_(0), (1, 2, 3))],
)
def test_axes_of_repeated_elements_may_change_in_place(rearrange, shape):
    x = gs.arange(3.0).expand(2, 3)
    assert rearrange(x).shape == shape
    assert x._version == 1


# -- names and results ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "name", "gradient"),
    [
        (lambda z: z.zero_(), "ZeroBackward0", [0, 0]),
        (lambda z: z.fill_(3), "FillBackward2", [0, 0]),
        (lambda z: z.copy_(gs.ones(2)), "torch::autograd::CopyBackwards", [0, 0]),
        (lambda z: z.masked_fill_(gs.tensor([True, False]), 0.0), "MaskedFillBackward0", [0, 2]),
        (lambda z: z.index_put_((gs.tensor([0]),), gs.ones(1)), "IndexPutBackward0", [0, 2]),
        (lambda z: z[:1].zero_(), "torch::autograd::CopySlices", [0, 2]),
    ],
)
def test_the_node_after_a_change_in_place(change, name, gradient):
    x = leaf(1.0, 2.0)
    z = x * 2
    change(z)
    assert z.grad_fn.name() == name
    z.sum().backward()
    assert x.grad.tolist() == gradient


def test_integers_take_no_gradient_from_what_they_are_set_to():
    z = gs.zeros(2, dtype=gs.int64)
    z.copy_(leaf(1.5, 2.5))
    assert (z.tolist(), z.requires_grad) == ([1, 2], False)


def test_comparisons_in_place_keep_the_dtype():
    x = gs.tensor([1.0, 2.0])
    assert x.ge_(1.5).tolist() == [0.0, 1.0]
    assert x.dtype is gs.float64


def test_a_result_can_be_stored_in_a_tensor():
    out = gs.zeros(2)
    assert gs.add(gs.ones(2), 1, alpha=3, out=out) is out
    assert (out.tolist(), out._version) == ([4, 4], 1)
    with pytest.raises(RuntimeError) as error:
        gs.mul(leaf(1.0, 2.0), 2, out=out)
    assert str(error.value) == (
        "mul(): functions with out=... arguments don't support automatic differentiation, but one "
        "of the arguments requires grad."
    )


# -- flags and copies ----------------------------------------------------------------------------


def test_flags_that_cannot_be_changed():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match=r"^you can only change requires_grad flags of leaf var"):
        (x * 2).requires_grad = True
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        x.requires_grad = 1
    with pytest.raises(RuntimeError, match="data set to a tensor that requires gradients must be"):
        x.data = gs.tensor([1])


def test_copies_of_views_share_a_copy_of_the_memory():
    x = gs.arange(4.0)
    whole, part = copy.deepcopy([x, x[1:3]])
    whole[1] = 9
    assert (part.tolist(), x.tolist()) == ([9, 2], [0, 1, 2, 3])


def test_a_pickled_result_is_a_leaf_that_requires_grad():
    y = pickle.loads(pickle.dumps(leaf(1.0) * 2))
    assert (y.requires_grad, y.is_leaf, y.tolist()) == (True, True, [2.0])


@pytest.mark.parametrize(
    "operation",
    [
        lambda x, y: x / y,
        lambda x, y: 2 / x,
        gs.fmax,
        gs.fmin,
        gs.logaddexp,
        lambda x, y: gs.softplus(x) * y,
    ],
)
def test_the_result_of_what_is_differentiated_by_its_operands_may_be_changed(operation):
    def gradients(change):
        x = gs.tensor([0.5, 2.0], requires_grad=True)
        y = gs.tensor([1.0, 3.0], requires_grad=True)
        out = operation(x, y)
        change(out)
        out.sum().backward()
        return [None if leaf.grad is None else leaf.grad.tolist() for leaf in (x, y)]

    expected = gradients(lambda out: None)
    assert gradients(lambda out: out.add_(1)) == expected
    assert gradients(lambda out: out[:1].add_(1)) == expected
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y = gs.tensor([0.5], requires_grad=True).exp()
        y.add_(1)
        y.backward()


@pytest.mark.parametrize(
    ("target", "value", "together"),
    [((1,), (4,), [4]), ((2, 3), (3, 2, 3), [3, 2, 3]), ((2, 3), (2, 1, 3), [2, 2, 3])],
)
def test_a_value_larger_than_the_tensor_it_is_copied_to_is_refused(target, value, together):
    with pytest.raises(RuntimeError) as caught:
        gs.ones(target).copy_(gs.ones(value))
    expected = f"output with shape {list(target)} doesn't match the broadcast shape {together}"
    assert str(caught.value) == expected


@pytest.mark.parametrize("name", ["normal_", "uniform_", "exponential_", "bernoulli_"])
def test_what_is_drawn_in_place_of_a_result_has_no_derivative(name):
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    getattr(y, name)()
    (y * x).sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_versions_may_be_preserved():
    x = gs.ones(2, requires_grad=True)
    y = x * 1
    result = y * y
    with autograd._unsafe_preserve_version_counter(y):
        y.data.mul_(3)
        with gs.no_grad():
            y.mul_(2)
    assert y._version == 0
    result.sum().backward()
    assert x.grad.tolist() == [12, 12]


def test_a_view_taken_before_its_base_required_gradients_is_not_changed():
    x = gs.zeros(2, 3)
    view = x[:]
    x.requires_grad = True
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        view.add_(5)


@pytest.mark.parametrize(
    "turn",
    [
        lambda x: x.t_(),
        lambda x: x.unsqueeze_(0),
        lambda x: x.t_().unsqueeze_(1),
        lambda x: x.transpose_(0, 1).t_(),
    ],
)
def test_views_taken_before_the_axes_were_changed_depend_on_what_the_base_is_now(turn):
    b = gs.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    x = b * 1.0
    row = x[0]
    turn(x)
    total = (row * row).sum() + (x * x).sum()
    d_x, d_b = grad(total, (x, b), create_graph=True)
    first = x.detach().flatten() * 0
    first[gs.argsort(x.detach().flatten())[:3]] = 1.0
    expected = 2 * x.detach() * (1 + first.reshape(x.shape))
    assert d_x.tolist() == expected.tolist()
    (second,) = grad(d_b.sum(), b, retain_graph=True)
    assert second.tolist() == (d_b / b).tolist()
    x.retain_grad()
    total.backward()
    assert x.grad.tolist() == expected.tolist()


def test_functions_of_gs_work_in_place():
    x = gs.tensor([0.5, -1.5])
    assert gs.abs_(x) is x
    assert gs.threshold_(x, 1.0, 9.0).tolist() == [9.0, 1.5]
    leaf = gs.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        gs.exp_(leaf)
    assert gs.fill(leaf, 3.0).tolist() == [3.0]


def test_elements_are_changed_by_functions_of_python():
    x = gs.tensor([1.0, 2.0])
    assert x.apply_(lambda a: 2 * a).tolist() == [2.0, 4.0]
    assert x.map_(gs.ones(2), lambda a, b: a + b).tolist() == [3.0, 5.0]
    assert x.map2_(gs.ones(2), x, lambda a, b, c: a * c - b).tolist() == [8.0, 24.0]


def test_copies_of_more_axes_are_refused():
    with pytest.raises(RuntimeError, match=r"\[3\] doesn't match the broadcast shape \[1, 3\]"):
        gs.zeros(3).copy_(gs.ones(1, 3))


def test_a_store_changes_no_cotangent_of_others():
    w, x = gs.ones(3, requires_grad=True), gs.ones(3, requires_grad=True)
    y = x * 1
    y[0] = 5.0
    (y + w).sum().backward()
    assert (w.grad.tolist(), x.grad.tolist()) == ([1, 1, 1], [0, 1, 1])
    y, seed = x * 1, gs.ones(3)
    y[0] = 5.0
    y.backward(seed)
    assert seed.tolist() == [1, 1, 1]
