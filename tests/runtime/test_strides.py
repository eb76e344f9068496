"""Views by steps in the memory: `as_strided`, `unfold`, diagonals; which of them may be changed."""

import pytest

import gradscribe as gs


def test_strided_views_and_windows_share_memory():
    x = gs.ones(4, requires_grad=True)
    y = x * 1
    pairs, every_other = y.unfold(0, 2, 1), y.as_strided((2,), (2,))
    every_other.mul_(3)
    assert (y.tolist(), every_other._version) == ([3, 1, 3, 1], 1)
    assert pairs.tolist() == [[3, 1], [1, 3], [3, 1]]
    pairs.sum().backward()
    assert x.grad.tolist() == [3, 2, 6, 1]


@pytest.mark.parametrize("step", [2, 3])
def test_windows_that_share_no_elements_may_be_changed_in_place(step):
    x = gs.ones(6, requires_grad=True)
    y = x * 2
    windows = y.unfold(0, 2, step)
    windows.mul_(3)
    y.sum().backward()
    expected = [3.0 if place % step < 2 else 1.0 for place in range(5)] + [
        3.0 if step == 2 else 1.0
    ]
    assert (y / 2).tolist() == expected
    assert (x.grad / 2).tolist() == expected


def test_steps_in_memory_that_reach_into_one_another_without_meeting_may_be_changed_in_place():
    x = gs.zeros(8)
    x.as_strided((3, 2), (2, 3)).add_(1)
    assert x.tolist() == [1, 0, 1, 1, 1, 1, 0, 1]


@pytest.mark.parametrize(
    "view",
    [lambda x: x.unfold(0, 3, 2), lambda x: x.as_strided((3, 3), (2, 1)), lambda x: x.expand(2, 7)],
)
def test_views_whose_elements_share_memory_are_not_changed_in_place(view):
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        view(gs.zeros(7)).add_(1)


def test_views_of_parts_share_memory_and_gradients():
    x = gs.ones(3, 3, requires_grad=True)
    y = x * 2
    y.diagonal().mul_(3)
    y.select(0, 2).narrow(0, 0, 2).zero_()
    assert y.tolist() == [[6, 2, 2], [2, 6, 2], [0, 0, 6]]
    y.sum().backward()
    assert x.grad.tolist() == [[6, 2, 2], [2, 6, 2], [0, 0, 6]]


def test_strides_reach_into_the_memory_of_a_view():
    x = gs.arange(12.0).reshape(3, 4)
    assert x.as_strided((2, 2), (1, 2), 1).tolist() == [[1, 3], [2, 4]]
    x.as_strided((3,), (5,)).fill_(-1)
    assert x.diagonal().tolist() == [-1, -1, -1]
    message = "requiring a storage size of 104 are out of bounds for storage of size 96"
    with pytest.raises(RuntimeError, match=message):
        x.as_strided((3,), (6,))


@pytest.mark.parametrize(
    "view",
    [
        lambda y: y[1].as_strided((2, 2), (3, 1)),
        lambda y: y.t().as_strided((2, 3), (1, 2), 1),
        lambda y: y[0].expand(2, 3).as_strided((3,), (1,)),
        lambda y: y[1:].as_strided((4,), (1,), 0),
        lambda y: y.unfold(1, 2, 1).as_strided((2,), (2,)),
    ],
)
def test_steps_in_the_memory_of_any_view(view):
    def stored(x):
        y = x * 1
        view(y).mul_(3)
        return y * y

    x = gs.arange(12.0).reshape(4, 3).clone().requires_grad_()
    assert view(x).tolist() == view(x.detach()).tolist()
    assert gs.autograd.gradcheck(stored, x)
    assert gs.autograd.gradgradcheck(stored, x)


def test_elements_that_a_tensor_has_not_give_it_no_gradient():
    x = gs.arange(6.0).clone().requires_grad_()
    part = x[1:3]
    y = part.as_strided((4,), (1,), 0)
    assert y.tolist() == [0, 1, 2, 3]
    (y * gs.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [0, 2, 3, 0, 0, 0]


def test_strides_that_meet_an_element_twice_are_not_stored_to():
    x = gs.arange(4.0)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.as_strided((2, 2), (1, 1)).mul_(2)
    with pytest.raises(RuntimeError, match="Negative strides are not supported at the moment"):
        x.as_strided((2,), (-1,), 3)
