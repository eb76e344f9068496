"""Several views of one operation have one node; a view of a changed base gets a new one."""

import numpy as np
import pytest

import gradscribe as gs


def leaf(*shape):
    return (gs.arange(float(np.prod(shape))).reshape(shape) + 1).clone().requires_grad_()


@pytest.mark.parametrize(
    ("call", "name", "saved"),
    [
        (lambda x: x.unbind(1), "UnbindBackward0", {"dim": 1}),
        (lambda x: x.split(1), "SplitBackward0", {"dim": 0, "split_size": 1}),
        (lambda x: x.chunk(3, 1), "SplitBackward0", {"dim": 1, "split_size": 1}),
        (lambda x: x.split([1, 2], 1), "SplitWithSizesBackward0", {"split_sizes": (1, 2)}),
    ],
)
def test_pieces_are_outputs_of_one_node(call, name, saved):
    x = leaf(2, 3)
    pieces = call(x)
    node = pieces[0].grad_fn
    assert node.name() == name
    assert all(piece.grad_fn is node for piece in pieces)
    assert [piece.output_nr for piece in pieces] == list(range(len(pieces)))
    assert {key: getattr(node, f"_saved_{key}") for key in saved} == saved
    (pieces[-1] ** 2).sum().backward()
    wanted = np.zeros((2, 3))
    places = np.arange(6).reshape(2, 3)
    chosen = call(gs.tensor(places))[-1].numpy()
    wanted.reshape(-1)[chosen] = 2 * (chosen + 1)
    np.testing.assert_array_equal(x.grad.numpy(), wanted)


def test_pieces_are_differentiated_to_any_order():
    def f(x):
        a, b, c = x.unbind()
        return a * b * c

    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    assert gs.autograd.gradgradcheck(f, x)


def test_which_piece_is_changed_in_place_is_told():
    _, b = leaf(2, 3).clone().unbind()
    with pytest.raises(RuntimeError, match=r"Output 1 of UnbindBackward0 is a view and is being"):
        b.mul_(2)


def test_pieces_by_sections_may_be_changed_in_place():
    x = leaf(4)
    y = x * 1
    a, b = y.tensor_split(2)
    b.mul_(5)
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 5, 5]
    assert a.grad_fn.name() == "AsStridedBackward0"


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[1:],
        lambda x: x.t(),
        lambda x: x.expand(2, 3, 2),
        lambda x: x.diagonal(),
        lambda x: x.unfold(0, 2, 1),
        lambda x: x.view(-1)[1::2],
        lambda x: x.as_strided((2, 2), (1, 1)),
    ],
)
def test_a_view_of_a_changed_base_is_taken_again(view):
    def f(x):
        y = x * 1
        z = view(y)
        y.mul_(x)
        assert z.grad_fn.name() == "AsStridedBackward0"
        return z * z

    assert gs.autograd.gradcheck(f, leaf(3, 2))
    assert gs.autograd.gradgradcheck(f, leaf(3, 2))


def test_a_view_that_is_a_leaf_is_not_changed_in_place():
    x = gs.arange(6.0).reshape(2, 3).requires_grad_()
    message = (
        r"^a view of a leaf Variable that requires grad is being used in an in-place operation"
    )
    for change in (lambda: x.mul_(2), lambda: x.t_(), lambda: x[0].zero_()):
        with pytest.raises(RuntimeError, match=message):
            change()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda x: x.t_(), "TBackward1"),
        (lambda x: x.transpose_(0, 1), "TransposeBackward1"),
        (lambda x: x.unsqueeze_(0), "UnsqueezeBackward1"),
        (lambda x: x.squeeze_(), "SqueezeBackward3"),
        (lambda x: x.squeeze_(0), "SqueezeBackward4"),
    ],
)
def test_axes_changed_in_place_make_no_view(change, name):
    y = leaf(1, 3) * 1
    change(y)
    assert y.grad_fn.name() == name
    assert not y._is_view()
    assert y._base is None
    assert not y.detach_().requires_grad


def test_a_leaf_that_requires_no_gradient_any_more_gets_none():
    x = leaf(2)
    y = x * 2
    x.detach_()
    y.sum().backward()
    assert x.grad is None
