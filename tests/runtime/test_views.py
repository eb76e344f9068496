"""Views: what they share with their base, and which may not be changed in place."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import autograd, torchlike
from gradscribe.autograd import Function


def intermediate(*shape):
    return gs.ones(*shape, requires_grad=True) * 1


def test_a_view_of_the_same_shape_shares_the_version():
    x = gs.ones(3, requires_grad=True)
    same = x.view(3)
    assert same._is_view()
    assert same._base is x
    with gs.no_grad():
        x.add_(1)
    assert same._version == 1


def test_a_leaf_is_not_changed_through_views():
    x = gs.ones(3, requires_grad=True)
    for view in (x.view(3), x[0], x[1:]):
        with pytest.raises(RuntimeError) as caught:
            view.add_(1)
        assert str(caught.value) == (
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )


def test_a_view_made_without_grad_is_not_changed_with_grad():
    base = intermediate(3)
    with gs.no_grad():
        view = base[1:]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being mod"):
        view.add_(1)
    assert base.tolist() == [1, 1, 1]
    with gs.no_grad():
        view.add_(1)
    assert base.tolist() == [1, 2, 2]


@pytest.mark.parametrize(
    "name, views",
    [
        ("UnbindBackward0", lambda x: x.unbind()),
        ("UnbindBackward0", tuple),
        ("SplitBackward0", lambda x: x.split(2)),
        ("SplitBackward0", lambda x: x.chunk(2)),
    ],
)
def test_one_of_several_views_is_not_changed(name, views):
    view = views(intermediate(4))[0]
    assert view.grad_fn.name() == name
    with pytest.raises(RuntimeError) as caught:
        view.mul_(2)
    assert str(caught.value) == (
        f"Output 0 of {name} is a view and is being modified inplace. This view is the output of a "
        "function that returns multiple views. Such functions do not allow the output views to be "
        "modified inplace. You should replace the inplace operation by an out-of-place one."
    )


class Flattened(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)

    @staticmethod
    def backward(ctx, gradient):
        return gradient.view(2, 2)


def test_a_view_that_a_custom_function_returned_is_not_changed():
    base = intermediate(2, 2)
    view = Flattened.apply(base)
    with pytest.raises(RuntimeError, match="Output 0 of FlattenedBackward is a view and is being"):
        view.mul_(3)
    assert base.tolist() == [[1, 1], [1, 1]]


def test_splitting_must_fit():
    x = intermediate(3)
    with pytest.raises(RuntimeError, match=r"to sum exactly to 3 .* got split_sizes=\[1, 1\]"):
        x.split([1, 1])
    with pytest.raises(RuntimeError, match="chunk expects `chunks` to be greater than 0, got: 0"):
        x.chunk(0)
    for tensor in (x, x.detach()):
        with pytest.raises(RuntimeError) as caught:
            tensor.view(2, 2)
        assert str(caught.value) == "shape '[2, 2]' is invalid for input of size 3"


def test_a_tensor_without_axes_counts_as_having_one():
    x = gs.tensor(2.0, requires_grad=True)
    for same in (x.transpose(0, -1), x.movedim(0, -1), x.sum(0), x.cumsum(0), x.var(0, False) + x):
        assert (same.shape, same.item()) == ((), 2.0)
    x.cumsum(0).backward()
    assert x.grad.item() == 1.0
    with pytest.raises(IndexError, match=r"\[-1, 0\], but got 1"):
        x.sum(1)
    with pytest.raises(RuntimeError, match=r"narrow\(\) cannot be applied to a 0-dim tensor"):
        x.narrow(0, 0, 1)


# -- views that neither they nor their bases may be changed in place -------------------------------

CHANGED = "its base or another view of its base has been modified inplace"


def test_a_view_taken_without_grad_has_no_place_after_its_base_has_changed():
    a = gs.ones(4, requires_grad=True) * 2
    with gs.no_grad():
        view = a[:2]
    a.mul_(3)
    assert view.requires_grad
    with pytest.raises(RuntimeError, match=f"A view was created in no_grad mode and {CHANGED}"):
        view.grad_fn


def test_one_of_several_views_may_not_be_used_after_a_change():
    a = gs.ones(4, requires_grad=True) * 2
    first, _ = a.chunk(2)
    with gs.no_grad():
        first.mul_(2)
    with pytest.raises(RuntimeError, match=f"Output 0 of SplitBackward0 is a view and {CHANGED}"):
        first.sum()


def test_a_view_of_a_view_taken_without_grad_may_not_be_changed():
    a = gs.ones(4, requires_grad=True) * 2
    with gs.no_grad():
        view = a[:2]
    of_view = view[:1]
    with pytest.raises(RuntimeError, match="is a view of a view which was created in no_grad mode"):
        of_view.mul_(2)


TAKEN = {
    "slice": lambda base: base[:2],
    "slice of a slice": lambda base: base[:2][:1],
    "one of several": lambda base: base.unbind(0)[1],
    "detached": lambda base: base.detach(),
}
BECOMES = {
    "requires_grad_": lambda base: base.requires_grad_(),
    "mul_": lambda base: base.mul_(gs.ones(3, requires_grad=True)),
    "a store": lambda base: base.__setitem__(0, gs.ones((), requires_grad=True)),
}


@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("becomes", BECOMES)
@pytest.mark.parametrize("recorded", [False, True])
def test_a_view_requires_gradients_as_soon_as_its_base_does(taken, becomes, recorded):
    base = gs.zeros(3)
    with gs.set_grad_enabled(recorded):
        view = TAKEN[taken](base)
    assert not view.requires_grad
    BECOMES[becomes](base)
    assert view.requires_grad is (taken != "detached")
    if taken == "detached":
        return
    if becomes != "requires_grad_" and (not recorded or taken == "one of several"):
        for ask in (lambda: view.grad_fn, view.sum):
            with pytest.raises(RuntimeError, match=CHANGED):
                ask()
        return
    found = None if view.grad_fn is None else view.grad_fn.name()
    assert found == (None if becomes == "requires_grad_" else "AsStridedBackward0")


def test_no_gradient_flows_through_a_view_that_was_taken_before():
    base = gs.zeros(3)
    view = base[:2]
    base.requires_grad_()
    out = view.sum()
    assert out.requires_grad
    assert out.grad_fn.next_functions == ((None, 0),)
    out.backward()
    assert base.grad is None
    base.requires_grad_(False)
    assert not view.requires_grad


def test_hooks_of_a_view_have_nothing_to_do_with_changes_through_it():
    a = gs.ones(4, requires_grad=True) * 2
    view = a[:2]
    seen = []
    view.register_hook(seen.append)
    view.retain_grad()
    view.mul_(3)
    a.sum().backward()
    assert (seen, view.grad) == ([], None)


PARTS = {
    "real": lambda z: z.real,
    "imag": lambda z: z.imag,
    "view_as_real": torchlike.view_as_real,
    "view_as_complex": lambda z: torchlike.view_as_complex(torchlike.view_as_real(z)),
    "a slice of the real part": lambda z: z.real[1:],
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("recorded", [False, True])
def test_parts_of_complex_numbers_are_views(name, recorded):
    def change_of_the_base(z):
        z = z * 1
        part = PARTS[name](z)
        z.mul_(2 + 1j)
        return (part * part).sum()

    def change_of_the_part(z):
        z = z * 1
        PARTS[name](z).mul_(3)
        return (z * z).sum()

    z = gs.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    for function in (change_of_the_base, change_of_the_part):
        check = autograd.gradgradcheck if recorded else autograd.gradcheck
        assert check(function, (z,))


def test_masked_elements_of_a_real_part_are_stored_in_the_complex_numbers():
    def stored(z, value):
        z = z * 1
        z.real[gs.tensor([True, False, True])] = value
        return (z * z * (1 + 1j)).sum()

    z = gs.tensor([1 + 2j, 3 - 1j, 2 + 1j], requires_grad=True)
    value = gs.tensor([0.5, 0.25], requires_grad=True)
    assert autograd.gradcheck(stored, (z, value))
    assert autograd.gradgradcheck(stored, (z, value))


def test_one_copy_of_what_was_expanded_may_be_changed():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y.expand(3, 2)[1].mul_(3)
    assert y.tolist() == [3, 6]
    assert autograd.grad(y.sum(), x)[0].tolist() == [3, 3]


def test_a_first_hook_asks_for_the_place_of_a_view():
    x = intermediate(2, 2)
    piece = x.split(1)[1]
    x.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been"):
        piece.register_hook(print)


@pytest.mark.parametrize(
    "copy",
    [
        lambda x: torchlike.rot90(x),
        lambda x: torchlike.rot90(x, 0),
        lambda x: torchlike.rot90(x, 2),
        lambda x: torchlike.matrix_power(x, 1),
        lambda x: gs.flip(x, [0]),
        lambda x: torchlike.roll(x, 0, 0),
    ],
)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_function_that_gives_no_view_gives_memory_of_its_own(copy, requires_grad):
    x = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=requires_grad)
    y = copy(x * 1)
    z = x * 1
    copy(z).detach().zero_()
    assert z.tolist() == x.tolist()
    assert not y._is_view()


def test_a_single_element_of_a_broadcast_view_can_be_stored_to():
    x = gs.ones(3, requires_grad=True)
    y = x * 1
    y.view(3, 1).expand(3, 2)[0, 1] = 5.0
    assert y.tolist() == [5, 1, 1]
    assert gs.autograd.grad(y.sum(), x)[0].tolist() == [0, 1, 1]
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        y.detach().view(3, 1).expand(3, 2)[0] = 5.0


def test_the_parts_of_complex_numbers_can_be_assigned():
    z = gs.zeros(2, dtype=gs.complex128)
    z.real = gs.tensor([1.0, 2.0])
    z.imag = 3
    assert z.tolist() == [1 + 3j, 2 + 3j]
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex"):
        gs.zeros(2).imag = 1


def test_axes_without_elements_are_flattened():
    assert gs.zeros(2, 3, 0).flatten(0, 1).shape == (6, 0)


@pytest.mark.parametrize("take", [lambda base: base[:2], lambda base: base.t()])
def test_a_view_of_what_was_changed_and_then_detached_leads_nowhere(take):
    x = gs.ones(3, requires_grad=True)
    base = x * 1
    view = take(base)
    base[0] = 5.0
    base.detach_()
    assert (view.requires_grad, view.grad_fn.name()) == (True, "AsStridedBackward0")
    assert gs.autograd.grad(view.sum(), x, allow_unused=True) == (None,)
    base.requires_grad_()
    (base * 2).sum().backward()
    assert (base.grad.tolist(), x.grad) == ([2, 2, 2], None)


def test_a_change_that_is_not_recorded_leaves_the_place_of_a_transposed_tensor():
    x = gs.ones(2, 3, requires_grad=True)
    y = x * 1
    y.t_()
    copied = y.clone()
    with gs.no_grad():
        y.mul_(2)
    y.register_hook(lambda gradient: gradient * 10)
    assert y.grad_fn.name() == "TBackward1"
    assert gs.autograd.grad(copied.sum(), x)[0].tolist() == [[10] * 3] * 2


@pytest.mark.parametrize("call", [gs.einsum, np.einsum])
@pytest.mark.parametrize(
    ("given", "gradient"),
    [
        (lambda b: ("ij->ji", b), [[2.0, 2.0], [2.0, 2.0]]),
        (lambda b: ("...", b), [[2.0, 2.0], [2.0, 2.0]]),
        (lambda b: ("ii->i", b), [[2.0, 1.0], [1.0, 2.0]]),
        (lambda b: (b, [0, 0], [0]), [[2.0, 1.0], [1.0, 2.0]]),
    ],
)
def test_einsum_that_sums_nothing_is_a_view(call: Any, given: Any, gradient: Any) -> None:
    a = gs.ones(2, 2, requires_grad=True)
    b = a * 1
    y = call(*given(b))
    assert y.grad_fn.name() == "PermuteBackward0"
    assert y._base is b
    y.mul_(2.0)
    assert type(b.grad_fn).__name__ == "CopySlices"
    b.sum().backward()
    assert b.tolist() == a.grad.tolist() == gradient


SHARING = [
    lambda b: np.split(b, 2)[0],
    lambda b: np.split(b, [1, 3], axis=1)[1],
    lambda b: np.split(b, [3], axis=-1)[1],
    lambda b: np.array_split(b, 3, axis=1)[0],
    lambda b: np.hsplit(b, 2)[1],
    lambda b: np.vsplit(b, [1])[1],
    lambda b: np.dsplit(b[None], 2)[0],
    lambda b: np.moveaxis(b, 0, 1),
    lambda b: np.rollaxis(b, 1),
    lambda b: np.transpose(b),
    lambda b: np.matrix_transpose(b),
    lambda b: np.linalg.matrix_transpose(b),
    lambda b: np.flip(b, 0),
    lambda b: np.flipud(b),
    lambda b: np.fliplr(b),
    *(lambda b, k=k: np.rot90(b, k)[0] for k in range(-1, 4)),
    lambda b: np.ravel(b)[2:5],
    lambda b: np.atleast_3d(b)[0],
    lambda b: np.expand_dims(b, 1)[0],
    lambda b: np.split(np.flip(b), 2)[1][:, ::2],
]


@pytest.mark.parametrize("view", SHARING)
def test_a_store_to_a_view_that_numpy_takes_is_one_to_its_base(view: Any) -> None:
    array = np.arange(8.0).reshape(2, 4)
    expected, weights = array.copy(), np.linspace(1, 2, 8).reshape(2, 4)
    part = view(expected)
    part[...] = np.sin(part)

    def stored(a: Any, is_late: bool) -> Any:
        b = a * 1
        part = view(b)
        if is_late:
            b.mul_(1.0)  # the view is taken again
        part.sin_()
        return b * gs.tensor(weights)

    for is_late in (False, True):
        a = gs.tensor(array, requires_grad=True)
        np.testing.assert_allclose(stored(a, is_late).detach() / weights, expected)
        assert autograd.gradcheck(lambda a, late=is_late: stored(a, late), a)
        assert autograd.gradgradcheck(lambda a, late=is_late: stored(a, late), a)


@pytest.mark.parametrize("requires_grad", [True, False])
@pytest.mark.parametrize(
    "view",
    [
        *SHARING,
        lambda b: np.diag(b),
        lambda b: np.linalg.diagonal(b),
        lambda b: np.broadcast_arrays(b, np.zeros((3, 1, 1)))[0],
        lambda b: np.lib.stride_tricks.sliding_window_view(b, 2, 1),
        *([lambda b: np.unstack(b)[1]] if hasattr(np, "unstack") else []),
    ],
)
def test_what_numpy_takes_a_view_of_is_told_as_the_base(view: Any, requires_grad: bool) -> None:
    b = gs.ones(2, 4, requires_grad=requires_grad) * 1
    result = view(b)
    assert result._base is b
    assert result.array.base is not None
    assert np.shares_memory(result.array, b.array)


@pytest.mark.parametrize("requires_grad", [True, False])
def test_what_numpy_copies_has_memory_of_its_own(requires_grad: bool) -> None:
    b = gs.ones(2, 2, requires_grad=requires_grad) * 1
    np.linalg.matrix_power(b, 1).mul_(2.0)
    np.ravel(b.T).mul_(2.0)
    assert b.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_a_view_of_a_view_holds_one_step_more_and_shares_the_others():
    base = gs.ones(4, requires_grad=True) * 1
    view = base.view(4)

    def held(times):
        nonlocal view
        tracemalloc.start()
        try:
            for _ in range(times):
                view = view.view(4)
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    held(10)
    few, many = held(200), held(2000)
    assert many < 20 * few  # with all steps for each it would be fifty times as much
    base.mul_(3.0)
    assert view.grad_fn.name() == "AsStridedBackward0"
    assert len(view._view_of.steps) == 2211


@pytest.mark.parametrize(
    "call",
    [
        lambda a: np.vsplit(a, 3),
        lambda a: np.dsplit(a, 3),
        lambda a: np.hsplit(a, 2),
        lambda a: np.split(a, 2),
        lambda a: np.array_split(a, 0),
        lambda a: np.fliplr(a),
        lambda a: np.rot90(a),
        lambda a: np.diag(a[None, None]),
    ],
)
def test_views_that_numpy_does_not_take_are_refused_with_its_errors(call: Any) -> None:
    array = np.arange(3.0)
    with pytest.raises((ValueError, IndexError)) as expected:
        call(array)
    with pytest.raises((ValueError, IndexError)) as error:
        call(gs.tensor(array))
    assert str(error.value) == str(expected.value)


def test_an_empty_part_has_the_strides_of_its_base() -> None:
    assert gs.ones(2, 3, 4)[:, 1:1].stride() == (12, 4, 1)


def test_copies_of_views_share_no_memory_and_have_names_of_their_own():
    x = gs.ones(2, 3, requires_grad=True)
    copy = torchlike.select_copy(x, 0, 1)
    assert type(copy.grad_fn).__name__ == "SelectBackward0_copy"
    assert not copy._is_view()
    assert type(x.unsafe_chunk(2)[0].mul_(2).grad_fn).__name__ == "MulBackward0"
