"""A compiled function that stores into what it is given leaves it as eager execution does."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from gradscribe.ir.trees import flatten


def first_scaled(x, y):
    x[0] = 2 * x[1] * y[0]
    return (x * y).sum()


def nothing_returned_but_a_number(x, y):
    x[1:] *= y[1:]
    return 3.0


def all_overwritten(x, y):
    x[:] = y * y
    return x.sum()


def overwritten_by_a_constant(x, y):
    x[:] = 1.0
    return y.sum()


def returned_itself(x, y):
    x += y
    return x


def stored_in_a_loop(x, y):
    for i in range(1, 3):
        x[i] = x[i - 1] + y[i] * y[0]
    return x[2] * 1


def stored_in_a_branch(x, y):
    if y[0] > 0:
        x[0] = y[0] ** 2
    return x.sum()


def stored_by_a_helper(x, y):
    def scale(v, factor):
        v *= factor

    scale(x, y[1])
    return x.sum()


def in_place_methods(x, y):
    x.mul_(y).add_(1)
    return x.exp().sum()


def both_stored(x, y):
    x[0] = y[0]
    y[1] = x[1]
    return (x * y).sum()


STORES = [
    first_scaled,
    nothing_returned_but_a_number,
    all_overwritten,
    overwritten_by_a_constant,
    returned_itself,
    stored_in_a_loop,
    stored_in_a_branch,
    stored_by_a_helper,
    in_place_methods,
    both_stored,
]


def tensors_of(value):
    return [leaf for leaf in flatten(value)[1] if isinstance(leaf, gs.Tensor)]


def outcome(f, make_arguments):
    """What a call leaves behind: all values, and the gradients of all leaves that require one."""
    leaves, arguments = make_arguments()
    result = f(*arguments)
    left = (result, arguments)
    tensors = tensors_of(left)
    values = [t.tolist() for t in tensors]
    flags = [(t.requires_grad, t._version) for t in tensors_of(arguments)]
    total = sum((t * (i + 1.5)).sum() for i, t in enumerate(tensors) if t.requires_grad)
    gradients = gs.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
    norm = sum((g * g).sum() for g in gradients if g is not None and g.requires_grad)
    second = (
        gs.autograd.grad(norm, leaves, allow_unused=True) if isinstance(norm, gs.Tensor) else []
    )
    zeros = [0.0, 0.0, 0.0]
    derivatives = [zeros if g is None else g.tolist() for g in (*gradients, *second)]
    return values, flags, derivatives


def assert_same_outcome(f, make_arguments):
    values, flags, derivatives = outcome(f, make_arguments)
    compiled_values, compiled_flags, compiled = outcome(gs.differentiable(f), make_arguments)
    assert compiled_values == values
    assert [grad for grad, _ in compiled_flags] == [grad for grad, _ in flags]
    assert [v > 0 for _, v in compiled_flags] == [v > 0 for _, v in flags]
    for found, expected in zip(compiled, derivatives, strict=False):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def leaves():
    return [gs.tensor(v, requires_grad=True) for v in ([0.3, -1.2, 2.0], [1.5, 0.4, -0.7])]


def of_intermediate_results():
    a, b = leaves()
    return (a, b), (a * 1, b * b)


def of_a_buffer():
    a, b = leaves()
    return (a, b), (gs.tensor([0.3, -1.2, 2.0]), b * a)


def of_views():
    a, b = leaves()
    table = gs.stack([a * b, b * 2])
    return (a, b), (table[0], table[1].clone())


@pytest.mark.parametrize("make_arguments", [of_intermediate_results, of_a_buffer, of_views])
@pytest.mark.parametrize("f", STORES)
def test_a_store_is_left_in_the_arguments(f, make_arguments):
    assert_same_outcome(f, make_arguments)


def test_the_base_of_a_stored_to_view_and_its_views_see_the_store():
    def of_a_row(f):
        a, b = leaves()
        table = gs.stack([a * b, b * 2])
        column = table[:, 0]
        f(table[0], b * 1)
        (table * table).sum().backward(retain_graph=True)
        (column * 3).sum().backward()
        return table.tolist(), column.tolist(), a.grad.tolist(), b.grad.tolist()

    compiled, eager = of_a_row(gs.differentiable(first_scaled)), of_a_row(first_scaled)
    for found, expected in zip(compiled, eager, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_the_argument_is_an_output_of_the_node():
    (_, b), (x, _) = of_intermediate_results()
    out = gs.differentiable(first_scaled)(x, b)
    assert x.grad_fn is out.grad_fn
    assert (x.grad_fn.name(), x._version) == ("FirstScaledBackward", 1)


def test_a_leaf_that_requires_gradients_is_refused():
    a, b = leaves()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        gs.differentiable(first_scaled)(a, b)
    assert a.tolist() == [0.3, -1.2, 2.0]


def appended_and_stored_on_a_path(held, x):
    held.append(x * 2)
    if x[0] > 5:
        x += 1.0
    return (x * x).sum()


def test_a_leaf_that_is_stored_to_on_another_path_stays_a_leaf():
    x, held = gs.tensor([1.0, 2.0], requires_grad=True), []
    gs.differentiable(appended_and_stored_on_a_path)(held, x).backward()
    assert (x.grad.tolist(), x.is_leaf, held[0].tolist()) == ([2.0, 4.0], True, [2.0, 4.0])
    large = gs.tensor([6.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        gs.differentiable(appended_and_stored_on_a_path)([], large)
    assert large.tolist() == [6.0, 2.0]


def test_a_view_of_a_leaf_is_refused():
    a, b = leaves()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        gs.differentiable(first_scaled)(a[:], b)


def test_without_grad_mode_leaves_are_stored_to():
    a, b = leaves()
    with gs.no_grad():
        gs.differentiable(first_scaled)(a, b)
    assert a.tolist() == [2 * -1.2 * 1.5, -1.2, 2.0]
    assert a.is_leaf and a.requires_grad


def test_an_earlier_reader_of_the_old_values_notices_the_store():
    a, b = leaves()
    x = a * 1
    early = (x * x).sum()
    gs.differentiable(first_scaled)(x, b)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        early.backward()


def test_an_expanded_tensor_is_refused():
    a, b = leaves()
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        gs.differentiable(first_scaled)((a[0] * 1).expand(3), b)


def test_overlapping_arguments_are_refused():
    a, _ = leaves()
    x = a * 1
    with pytest.raises(errors.AliasingError, match="shares memory"):
        gs.differentiable(first_scaled)(x, x)


def test_plain_arrays_are_changed():
    buffer = np.zeros(3)
    _, b = leaves()
    gs.differentiable(all_overwritten)(buffer, b.detach())
    assert buffer.tolist() == (b * b).tolist()


def test_plain_arrays_keep_no_derivative():
    """What is stored there would be a constant to all that reads it later."""
    buffer = np.zeros(3)
    _, b = leaves()
    with pytest.raises(
        errors.UnsupportedError, match="stores what is differentiated in an array of NumPy"
    ):
        gs.differentiable(all_overwritten)(buffer, b)
    assert buffer.tolist() == [0, 0, 0]


def test_old_values_that_the_function_read_are_kept():
    """Eager execution raises here: the square needs what was overwritten."""

    @gs.differentiable
    def f(x, y):
        before = (x * x).sum()
        x *= y
        return before + x.sum()

    a, b = leaves()
    x = a * 1
    f(x, b).backward()
    np.testing.assert_allclose(a.grad.tolist(), (2 * a + b).tolist())
    np.testing.assert_allclose(b.grad.tolist(), a.tolist())


# -- lists and dicts -----------------------------------------------------------------------------


def appended(items, y):
    items.append(y * 2)
    return y.sum()


def item_replaced(items, y):
    items[0] = y * y
    return items[0].sum()


def entry_added(table, y):
    table["new"] = y * 2
    return table["a"].sum()


def entry_replaced(table, y):
    table["a"] = table["a"] * y
    return table["a"].sum()


def list_of_one():
    a, b = leaves()
    return (a, b), ([a * 1], b * 1)


def list_of_several_kinds():
    a, b = leaves()
    return (a, b), ([a * 1, "text", 2.0], b * 1)


def table():
    a, b = leaves()
    return (a, b), ({"a": a * 1, "k": 3}, b * 1)


@pytest.mark.parametrize(
    ("f", "make_arguments"),
    [
        (appended, list_of_one),
        (item_replaced, list_of_one),
        (appended, list_of_several_kinds),
        (item_replaced, list_of_several_kinds),
        (entry_added, table),
        (entry_replaced, table),
    ],
)
def test_lists_and_dicts_are_changed(f, make_arguments):
    assert_same_outcome(f, make_arguments)


def test_what_a_list_held_before_stays_the_same_object():
    a, b = leaves()
    items = [a]
    gs.differentiable(appended)(items, b)
    assert items[0] is a
    assert items[1].grad_fn.name() == "AppendedBackward"


def test_a_dict_that_is_given_twice_is_refused():
    @gs.differentiable
    def f(first, second, y):
        first["k"] = y
        return second["k"].sum()

    table = {"k": leaves()[0]}
    with pytest.raises(errors.AliasingError, match="changes a list, dict or object"):
        f(table, table, leaves()[1])


captured = np.zeros(3)


def test_captured_arrays_and_attributes_are_changed():
    class Holder:
        def __init__(self):
            self.buffer = np.zeros(3)

    holder = Holder()

    @gs.differentiable
    def f(y):
        captured[0] = y[0]
        holder.buffer[1] = y[1]
        return y.sum()

    with pytest.raises(
        errors.UnsupportedError, match="stores what is differentiated in an array of NumPy"
    ):
        f(leaves()[0])
    assert captured.tolist() == holder.buffer.tolist() == [0, 0, 0]
    f(leaves()[0].detach())
    assert captured.tolist() == [0.3, 0, 0]
    assert holder.buffer.tolist() == [0, -1.2, 0]


# -- results that are arguments ------------------------------------------------------------------


def test_an_argument_that_is_returned_is_the_same_tensor():
    @gs.differentiable
    def f(x, y):
        return x, x * y, (y,)

    a, b = leaves()
    first, _, (last,) = f(a, b)
    assert first is a
    assert last is b


def test_an_argument_that_is_not_differentiated_is_returned_outside_the_graph():
    @gs.differentiable(argnums=0)
    def f(x, y):
        return x * 2, y, y[1:]

    a, b = leaves()
    _, whole, part = f(a, b)
    assert (whole.requires_grad, part.requires_grad) == (False, False)
    assert whole.tolist() == b.tolist()


def views(A, n):
    return A[1:], A.T, A[0], A.view(-1), A[:, None, 1].squeeze(1), A.transpose(0, 1)[1]


def views_of_what_is_stored_to(A, n):
    row = A[0]
    A[0] = A[1] * 2
    A[1, 1] = 5.0
    return row, A[:, 1]


@pytest.mark.parametrize("f", [views, views_of_what_is_stored_to])
def test_a_view_of_an_argument_is_a_view(f):
    def changed_afterwards(f):
        a, b = leaves()
        A = gs.stack([a * b, b * 2])
        results = f(A, 2)
        with gs.no_grad():
            expected = [r.tolist() for r in f(A.clone(), 2)] if f is views else []
        A[0, 0] = 100.0
        total = sum((r * r).sum() for r in results)
        total.backward()
        names = [r.grad_fn.name() for r in results]
        bases = [r._base is A for r in results]
        return names, bases, [r.tolist() for r in results], expected, a.grad.tolist()

    eager, compiled = changed_afterwards(f), changed_afterwards(gs.differentiable(f))
    assert compiled[:2] == eager[:2]
    assert compiled[2] == eager[2]
    np.testing.assert_allclose(compiled[4], eager[4], rtol=1e-14)


def test_results_that_are_one_object_or_views_of_one_another_stay_so():
    @gs.differentiable
    def f(x):
        y = x * 2
        return y[1:], y, (y, y.sum())

    a, _ = leaves()
    part, whole, (again, _) = f(a)
    assert again is whole
    assert part._base is whole
    with gs.no_grad():
        whole.zero_()
    assert part.tolist() == [0, 0]
    (part * 3).sum().backward()
    assert a.grad.tolist() == [0, 6, 6]


def test_a_view_of_a_plain_array_is_a_view():
    buffer = np.arange(4.0)
    part, _ = gs.differentiable(lambda x, y: (x[1:], y * 2))(buffer, leaves()[0])
    assert part.base is buffer


def test_results_that_depend_on_no_tensor_require_no_gradient():
    @gs.differentiable
    def f(x, y):
        return x * 2, y * 2, 0.5, (x > 0).sum()

    a, b = leaves()
    doubled, plain, half, count = f(a, b.detach())
    assert doubled.requires_grad
    assert isinstance(plain, gs.Tensor) and not plain.requires_grad
    assert half == 0.5 and isinstance(half, float)
    assert isinstance(count, gs.Tensor) and count.item() == 2


def swapped_in_a_loop(x, y):
    for _ in range(2):
        y[1:] = x[1:] * x[:-1]
        x, y = y, x
    return (x * x).sum()


def chosen_by_a_value(x, y):
    z = x if x[0] > 0 else y
    z[1] = z[0] * 3
    return z.sum()


def number_changed_in_place(x, y):
    for _ in range(2):
        x *= 2
    return x * y


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (swapped_in_a_loop, ([1.0, 2.0], [3.0, 4.0])),
        (chosen_by_a_value, ([1.0, 2.0], [3.0, 4.0])),
        (number_changed_in_place, (1.0, 2.0)),
    ],
)
def test_changes_that_are_not_followed_are_refused(function, args):
    tensors = [gs.tensor(a, requires_grad=True) * 1.0 for a in args]
    with pytest.raises(errors.AliasingError, match="a call with Tensors does not follow that"):
        gs.differentiable(function)(*tensors)


def test_arguments_that_may_be_stored_to_must_not_overlap():
    a = np.array([1.0, 2.0, 3.0])
    with pytest.raises(errors.AliasingError, match="`x` is stored to, and shares memory with `y`"):
        gs.grad(swapped_in_a_loop)(a, a)
    gs.testing.check_grad(swapped_in_a_loop, a, a + 1)
