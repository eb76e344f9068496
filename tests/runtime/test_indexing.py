"""Indexing: errors in PyTorch's words, and kinds of index that NumPy reads otherwise."""

import tracemalloc

import pytest

import gradscribe as gs
from gradscribe import torchlike

MASK = gs.tensor([True, False, True])


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize(
    "index, message",
    [
        (2, "index 2 is out of bounds for dimension 0 with size 2"),
        ((0, -4), "index -4 is out of bounds for dimension 1 with size 3"),
        ((0, 0, 0), "too many indices for tensor of dimension 2"),
        (gs.tensor([5]), "index 5 is out of bounds for dimension 0 with size 2"),
        (gs.tensor([1.0]), "tensors used as indices must be long, int, byte or bool tensors"),
        (
            MASK,
            "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor "
            "[2, 3] at index 0",
        ),
        (
            1.5,
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            "valid indices (got float)",
        ),
    ],
)
def test_an_index_that_does_not_fit(index, message, requires_grad):
    x = gs.zeros(2, 3, requires_grad=requires_grad)
    with pytest.raises(IndexError) as caught:
        x[index]
    assert str(caught.value) == message


def test_no_index_fits_a_tensor_without_axes():
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        gs.tensor(1.0)[0]


def test_true_adds_an_axis():
    x = gs.arange(3.0, requires_grad=True)
    assert x[True].shape == (1, 3)
    (x[True] * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("index", "value", "message"),
    [
        (
            0,
            gs.ones(2),
            "The expanded size of the tensor (3) must match the existing size (2) at non-singleton "
            "dimension 0.  Target sizes: [3].  Tensor sizes: [2]",
        ),
        (
            0,
            gs.ones(2, 3),
            "expand(torch.DoubleTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must "
            "be greater or equal to the number of dimensions in the tensor (2)",
        ),
        (
            [0, 1],
            gs.ones(2),
            "shape mismatch: value tensor of shape [2] cannot be broadcast to indexing result of "
            "shape [2, 3]",
        ),
        (
            [0, 1],
            gs.tensor([1, 2, 3]),
            "Index put requires the source and destination dtypes match, got Double for the "
            "destination and Long for the source.",
        ),
    ],
)
def test_a_value_that_does_not_fit_its_place(index, value, message):
    x = gs.zeros(2, 3)
    with pytest.raises(RuntimeError) as caught:
        x[index] = value
    assert str(caught.value) == message


def test_a_number_is_cast_where_a_mask_holds():
    x = gs.zeros(3)
    x[gs.tensor([True, False, True])] = gs.tensor(2)
    assert x.tolist() == [2, 0, 2]


def test_a_mask_chooses_a_tensor_without_axes():
    x = gs.tensor(2.0, requires_grad=True)
    y = x[x > 1]
    assert y.shape == (1,)
    assert x[x < 1].shape == (0,)
    (3 * y).sum().backward()
    assert x.grad.item() == 3


# -- where PyTorch and NumPy differ --------------------------------------------------------------


def test_integers_select_before_arrays_index():
    x = gs.arange(24.0).reshape(2, 3, 4)
    assert x[0, :, [0, 1]].shape == (3, 2)
    assert x[gs.tensor(1), :, gs.tensor([0, 2])].tolist() == [[12, 14], [16, 18], [20, 22]]
    assert x[:, 0, [0, 1]].shape == (2, 2)
    x[0, :, [0, 1]] = gs.tensor([[1.0, 2.0]] * 3)
    assert x[0, 2].tolist() == [1, 2, 10, 11]


def test_gradients_of_integers_that_select_before_arrays_index():
    x = gs.ones(2, 2, 3, requires_grad=True)
    y = x * 1
    y[1, :, [0, 2]] *= 3
    (y[0, :, [1, 1]] + y[1, :, [0, 2]]).sum().backward()
    assert x.grad.tolist() == [[[0, 2, 0]] * 2, [[3, 0, 3]] * 2]


def test_bytes_are_a_mask_and_short_integers_no_index():
    x = gs.arange(3.0)
    assert x[gs.tensor([1, 0, 1], dtype=gs.uint8)].tolist() == [0, 2]
    with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool"):
        x[gs.tensor([1, 0], dtype=torchlike.int8)]


def test_a_list_of_lists_is_an_index_for_each_axis():
    x = gs.arange(6.0).reshape(2, 3)
    assert x[[[0, 1], [2, 0]]].tolist() == [2, 3]
    assert x[..., ...].shape == (2, 3)


@pytest.mark.parametrize(
    ("place", "value", "error", "message"),
    [
        (3, 1.0, IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
        (0, 1j, RuntimeError, "value cannot be converted to type double without overflow"),
        (0, "a", TypeError, "can't assign a str to a torch.DoubleTensor"),
    ],
)
def test_a_store_that_is_refused(place, value, error, message):
    with pytest.raises(error) as caught:
        gs.zeros(3)[place] = value
    assert str(caught.value) == message


def test_reversing_turns_the_first_axis():
    assert list(reversed(gs.arange(3))) == [2, 1, 0]
    assert reversed(gs.arange(4).reshape(2, 2)).tolist() == [[2, 3], [0, 1]]


def test_a_mask_on_a_tensor_of_integers_fills_with_integers():
    assert gs.arange(3).masked_fill(gs.tensor([True, False, True]), 1.5).tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="masked_fill_ only supports boolean masks"):
        gs.arange(3).masked_fill(gs.tensor([1, 0, 1]), 1)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (0, "invalid index of a 0-dim tensor"),
        ((..., 0), "too many indices for tensor of dimension 0"),
        ((0, 0), "too many indices for tensor of dimension 0"),
        ((None, 0), "too many indices for tensor of dimension 0"),
        (slice(None), r"slice\(\) cannot be applied to a 0-dim tensor"),
    ],
)
def test_what_no_index_of_a_tensor_without_axes_says(index, message):
    x = gs.tensor(1.0)
    with pytest.raises(IndexError, match=message):
        x[index]
    with pytest.raises(IndexError, match=message):
        x[index] = 2.0


TRUE, BYTE = gs.tensor(True), gs.tensor(1, dtype=gs.uint8)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (True, [[[0, 1, 2], [3, 4, 5]]]),
        (TRUE, [[[0, 1, 2], [3, 4, 5]]]),
        (BYTE, [[[0, 1, 2], [3, 4, 5]]]),
        ((True, TRUE), [[[0, 1, 2], [3, 4, 5]]]),
        ((True, 1), [[3, 4, 5]]),
        ((slice(None), True, [0, 1]), [[0, 1], [3, 4]]),
        ((True, ..., [0, 2]), [[0, 3], [2, 5]]),
        (gs.tensor(1, dtype=torchlike.int16), [3, 4, 5]),
    ],
)
def test_a_single_boolean_is_a_mask_of_a_new_axis(index, expected):
    x = gs.arange(6.0, requires_grad=True).reshape(2, 3)
    y = x[index]
    assert y.tolist() == expected
    assert y.data_ptr() != x.data_ptr() or isinstance(index, gs.Tensor)
    assert gs.autograd.grad(y.sum(), x)[0].sum() == y.numel()


def test_a_false_index_selects_nothing_and_stores_nothing():
    x = gs.zeros(2, 3)
    assert x[False, True, ...].shape == (0, 2, 3)
    x[False] = 5
    x[0, gs.tensor(False)] = 5
    assert x.sum() == 0
    scalar = gs.tensor(3.0)
    scalar[TRUE] = 4
    assert scalar.item() == 4


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda x: x[::0], ValueError, "slice step cannot be zero"),
        (
            lambda x: x["a":],
            TypeError,
            "slice indices must be integers or None or have an __index__ method",
        ),
        (
            lambda x: x[gs.tensor([])],
            IndexError,
            "tensors used as indices must be long, int, byte or bool tensors",
        ),
        (
            lambda x: x[:, :0][:, [0, 1]],
            IndexError,
            "index is out of bounds for dimension with size 0",
        ),
        (
            lambda x: x.__setitem__(gs.tensor([True, False]), gs.tensor([1, 2])),
            RuntimeError,
            "shape mismatch: value tensor of shape [2] cannot be broadcast to indexing result of "
            "shape [1, 3]",
        ),
        (
            lambda x: torchlike.take_along_dim(x, gs.tensor([0]), 0),
            RuntimeError,
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            "but got 2 dimensions for input, and 1 dimensions for indices",
        ),
        (
            lambda x: x.gather(0, gs.tensor([[0, 0, 0, 0]])),
            RuntimeError,
            "Size does not match at dimension 1 expected index [1, 4] to be no larger than self "
            "[2, 3] apart from dimension 0",
        ),
        (
            lambda x: x.masked_select(gs.tensor([1, 0, 1])),
            RuntimeError,
            "masked_select: expected BoolTensor for mask",
        ),
        (
            lambda x: torchlike.unravel_index(gs.tensor([0.5]), (2, 3)),
            TypeError,
            "expected 'indices' to be integer dtype, but got torch.float64",
        ),
    ],
)
def test_errors_of_indices_are_pytorchs(act, error, message):
    with pytest.raises(error) as caught:
        act(gs.zeros(2, 3))
    assert str(caught.value) == message


def test_take_along_dim_broadcasts_the_other_axes():
    x = gs.arange(6.0).reshape(2, 3)
    assert torchlike.take_along_dim(x, gs.tensor([[2, 0]]), 1).tolist() == [[2, 0], [5, 3]]


def test_scatter_multiplies_by_every_value_that_goes_to_a_place():
    x, twice = gs.tensor([2.0, 3.0]), gs.tensor([0, 0])
    assert x.scatter(0, twice, gs.tensor([5.0, 7.0]), reduce="multiply").tolist() == [70, 3]
    assert x.scatter(0, twice, 5.0, reduce="multiply").tolist() == [50, 3]


@pytest.mark.parametrize(
    ("values", "reduce", "expected"),
    [
        ([-3, -4], "mean", [-4, 1]),
        ([2**62 + 1, 0], "amax", [2**62 + 1, 1]),
        ([False, False], "amax", [False, True]),
    ],
)
def test_reductions_that_scatter_integers_are_exact(values, reduce, expected):
    values = gs.tensor(values)
    x = gs.ones(2, dtype=values.dtype)
    places = gs.tensor([0, 0])
    assert x.scatter_reduce(0, places, values, reduce, include_self=False).tolist() == expected


def test_an_empty_index_scatters_nothing():
    x, nowhere = gs.ones(2, 3), gs.zeros(0, dtype=gs.int64)
    assert x.gather(0, nowhere).shape == (0,)
    assert x.scatter(0, nowhere, 5.0).tolist() == x.tolist()
    assert x.scatter_add(0, nowhere, gs.ones(2, 3)).tolist() == x.tolist()


def test_positions_outside_of_the_array_wrap_around():
    rows, columns = torchlike.unravel_index(gs.tensor([-1, 7]), (2, 3))
    assert (rows.tolist(), columns.tolist()) == ([1, 0], [2, 1])


@pytest.mark.parametrize("index", [..., slice(None), True])
def test_values_may_have_more_axes_of_length_one_than_their_place(index):
    value = gs.full((1, 1, 2, 3), 5.0, requires_grad=True)
    whole = gs.zeros(2, 3)
    whole[index] = value
    whole.sum().backward()
    assert whole.tolist() == [[5, 5, 5], [5, 5, 5]]
    assert value.grad.shape == (1, 1, 2, 3)


TENSORS = {"s": gs.tensor(1.0), "v": gs.ones(3), "m": gs.ones(2, 3)}
ARRAYS = {
    "two": gs.tensor([0, 1]),
    "three": gs.tensor([0, 1, 2]),
    "five": gs.tensor([5]),
    "mask": gs.tensor([True, False]),
    "mask3": gs.tensor([True, False, True]),
}


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("s[...,1:]", "too many indices for tensor of dimension 0"),
        ("s[1:]", "slice() cannot be applied to a 0-dim tensor."),
        ("s[True,0,0]", "too many indices for tensor of dimension 0"),
        ("v[two,1:,0]", "too many indices for tensor of dimension 1"),
        ("m[0,5]", "index 5 is out of bounds for dimension 1 with size 3"),
        ("m[:,five]", "index 5 is out of bounds for dimension 0 with size 3"),
        ("m[0,five]", "index 5 is out of bounds for dimension 0 with size 3"),
        ("m[two,five]", "index 5 is out of bounds for dimension 1 with size 3"),
        (
            "m[mask3]",
            "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor "
            "[2, 3] at index 0",
        ),
        (
            "m[...,mask]",
            "The shape of the mask [2] at index 0 does not match the shape of the indexed tensor "
            "[2, 3] at index 1",
        ),
        (
            "m[0,mask]",
            "The shape of the mask [2] at index 0 does not match the shape of the indexed tensor "
            "[3] at index 0",
        ),
        (
            "m[None,mask3]",
            "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor "
            "[1, 2, 3] at index 1",
        ),
        (
            "m[two,three]",
            "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
        ),
        (
            "m[False,[[0,1]],three]",
            "shape mismatch: indexing tensors could not be broadcast together with shapes [0], "
            "[1, 2], [3]",
        ),
    ],
)
def test_indices_that_do_not_fit_are_told_of_in_pytorchs_words(index: str, message: str) -> None:
    for program in (index, f"{index} = 1.0"):
        with pytest.raises(IndexError) as error:
            exec(program, {**TENSORS, **ARRAYS})
        assert str(error.value) == message


MATRIX = gs.tensor([[0.31, 0.82, 0.57], [0.44, 0.13, 0.69]])


def test_selecting_out_of_range_is_refused():
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        gs.tensor([1.0, 2.0]).topk(3)
    with pytest.raises(RuntimeError, match=r"index 3 is out of bounds for dimension 1 with size 3"):
        MATRIX.gather(1, gs.tensor([[3]]))
    with pytest.raises(IndexError, match=r"select\(\): index 10 out of range"):
        gs.arange(10.0).select(0, 10)
    with pytest.raises(RuntimeError, match=r"start \(8\) \+ length \(3\) exceeds dimension size"):
        gs.arange(10.0).narrow(0, 8, 3)
    with pytest.raises(IndexError, match="out of range: tried to access index 6 on a tensor of 6"):
        MATRIX.take(gs.tensor([6]))


def test_elements_cannot_be_deleted():
    with pytest.raises(TypeError, match="Tensor does not support deleting items"):
        del MATRIX[0]


def test_indices_without_axes_gather_from_vectors_and_numbers():
    x = gs.ones((), requires_grad=True)
    assert x.gather(0, gs.tensor([0, 0])).tolist() == [1, 1]
    y = gs.tensor([1.0, 2.0], requires_grad=True)
    y.gather(0, gs.tensor(1)).backward()
    assert y.grad.tolist() == [0, 1]


def test_a_few_elements_of_many_are_gathered_without_an_array_of_that_size() -> None:
    x, index = gs.ones(1_000_000), gs.tensor([5, 0, 999_999])
    x.gather(0, index)
    tracemalloc.start()
    x.gather(0, index)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100_000
