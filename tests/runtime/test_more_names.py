"""More names of PyTorch's: values, dtypes and errors as PyTorch gives them."""

import pytest

import gradscribe as gs

X = gs.ones(2, 3)


@pytest.mark.parametrize(
    ("call", "dtype", "values"),
    [
        (lambda: gs.tensor([1.0, -1.2, 0.6]).hardshrink(), "float64", [1.0, -1.2, 0.6]),
        (lambda: gs.celu(gs.tensor([0.3, -1.2]), 1.5), "float64", [0.3, -0.826006553824]),
        (lambda: gs.selu(gs.tensor([0.3, -1.2])), "float64", [0.315210296207, -1.228569995417]),
        (lambda: gs.rrelu(gs.tensor([1.0, -1.0]), 0.1, 0.3), "float64", [1.0, -0.2]),
        (
            lambda: gs.prelu(gs.tensor([[0.3, -1.2], [-1.0, 2.0]]), gs.tensor([0.25, 0.5])),
            "float64",
            [[0.3, -0.6], [-0.25, 2.0]],
        ),
        (lambda: gs.tensor([1, 2]).ldexp(gs.tensor([3])), "float64", [8.0, 16.0]),
        (lambda: gs.tensor([0.3, -1.2, 5.0]).frexp().exponent, "int32", [-1, 1, 3]),
        (
            lambda: gs.tensor([[3.0, 4.0], [0.1, 0.2]]).renorm(2, 0, 1.0),
            "float64",
            [[0.599999988, 0.799999984], [0.1, 0.2]],
        ),
        (lambda: gs.ones(2, 3).sum_to_size(3), "float64", [2.0, 2.0, 2.0]),
        (
            lambda: gs.histogram(gs.tensor([1.0, 2.0, 1.0, 4.0]), 4, range=(0.0, 4.0)).hist,
            "float64",
            [0.0, 2.0, 1.0, 1.0],
        ),
        (lambda: gs.tensor([0.0, 1.0, 2.0]).nonzero_static(size=3), "int64", [[1], [2], [-1]]),
        (
            lambda: gs.tensor([[1.0, 1.0, 0.5], [4.0, 3.0, 0.2], [0.5, 0.2, 2.0]]).lu()[0],
            "float64",
            [[4.0, 3.0, 0.2], [0.25, 0.25, 0.45], [0.125, -0.7, 2.29]],
        ),
        (
            lambda: gs.tensor([[1.0, 1.0, 0.5], [4.0, 3.0, 0.2], [0.5, 0.2, 2.0]]).lu()[1],
            "int32",
            [2, 2, 3],
        ),
        (
            lambda: gs.tensor([[0.0, 1.0], [-1.0, 0.0]]).matrix_exp(),
            "float64",
            [[0.540302305868, 0.841470984808], [-0.841470984808, 0.540302305868]],
        ),
        (
            lambda: gs.tensor([[0.0, 40.0], [-40.0, 0.0]]).matrix_exp(),
            "float64",
            [[-0.666938061652, 0.745113160479], [-0.745113160479, -0.666938061652]],
        ),
        (
            lambda: gs.tensor([[4.0, 9.0], [1.0, 3.0]]).cholesky(),
            "float64",
            [[2.0, 0.0], [0.5, 1.658312395178]],
        ),
        (
            lambda: gs.gradient(
                gs.tensor([1.0, 2.0, 4.0, 8.0]), spacing=(gs.tensor([0.0, 1.0, 3.0, 4.0]),)
            )[0],
            "float64",
            [1.0, 1.0, 3.0, 4.0],
        ),
        (
            lambda: gs.vander(gs.tensor([1, 2, 3]), 2, increasing=True),
            "int64",
            [[1, 1], [1, 2], [1, 3]],
        ),
        (
            lambda: gs.combinations(gs.tensor([1, 2, 3]), with_replacement=True),
            "int64",
            [[1, 1], [1, 2], [1, 3], [2, 2], [2, 3], [3, 3]],
        ),
        (lambda: gs.unravel_index(gs.tensor([5, 3]), (2, 3))[1], "int64", [2, 0]),
        (
            lambda: gs.hann_window(5),
            "float64",
            [0.0, 0.345491502813, 0.904508497187, 0.904508497187, 0.345491502813],
        ),
        (lambda: gs.kaiser_window(3, False), "float64", [5.2773441e-05, 1.0, 5.2773441e-05]),
        (lambda: gs.range(1, 2, 0.5), "float64", [1.0, 1.5, 2.0]),
        (
            lambda: gs.pixel_shuffle(gs.arange(8.0).reshape(4, 1, 2), 2),
            "float64",
            [[[0.0, 2.0, 1.0, 3.0], [4.0, 6.0, 5.0, 7.0]]],
        ),
        (
            lambda: gs.channel_shuffle(gs.arange(4.0).reshape(1, 4, 1), 2),
            "float64",
            [[[0.0], [2.0], [1.0], [3.0]]],
        ),
        (
            lambda: gs.istft(
                gs.stft(gs.arange(8.0), 4, 2, window=gs.ones(4), return_complex=True),
                4,
                2,
                window=gs.ones(4),
            ),
            "float64",
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
        ),
        (
            lambda: gs.ones(3, 2).index_reduce(0, gs.tensor([0, 0]), gs.full((2, 2), 3.0), "prod"),
            "float64",
            [[9.0, 9.0], [1.0, 1.0], [1.0, 1.0]],
        ),
        (
            lambda: gs.tensor([5, 6]).scatter_reduce(
                0, gs.tensor([0]), gs.tensor([2]), "amax", include_self=False
            ),
            "int64",
            [2, 6],
        ),
    ],
)
def test_values(call, dtype, values):
    found = call()
    assert str(found.dtype) == f"torch.{dtype}"
    assert found.tolist() == gs.tensor(values).tolist() or gs.allclose(
        found, gs.tensor(values, dtype=found.dtype), atol=1e-11
    )


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: X.select_scatter(gs.ones(3), 1, 2), r"src size = \[3\], slice size = \[2\]"),
        (lambda: X.sum_to_size(2), r"size \{\[2\]\} is not expandable to size \{\[2, 3\]\}."),
        (lambda: gs.prelu(X, gs.ones(2)), "Found parameter numbers = 2 and channel size = 3."),
        (lambda: gs.ones(2, dtype=gs.int64).frexp(), "only supports floating-point dtypes"),
        (lambda: gs.ones(3).renorm(2, 0, 1.0), "renorm: input needs at least 2 dimensions, got 1"),
        (lambda: X.renorm(2, 0, -1.0), "renorm: expected maxnorm to be >= 0 but got -1"),
        (lambda: X.geometric_(1.5), r"geometric_ expects p to be in \(0, 1\), but got p=1.5"),
        (
            lambda: X.inverse(),
            "linalg.inv: A must be batches of square matrices, but they are 2 by",
        ),
        (lambda: gs.zeros(2, 2).inverse(), "linalg.inv: The diagonal element 1 is zero"),
        (lambda: (-gs.eye(2)).cholesky(), r"\(the leading minor of order 1 is not positive-def"),
        (
            lambda: X.index_reduce(0, gs.tensor([0]), gs.ones(1, 3), "sum"),
            "Expected reduce to be one of prod, mean, amax or amin but got sum.",
        ),
        (
            lambda: gs.ones(1, requires_grad=True).apply_(abs),
            r"Can't call apply_\(\) on Variable that requires grad. Use var.detach\(\).apply_\(\)",
        ),
    ],
)
def test_errors(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def test_elements_cannot_be_deleted():
    with pytest.raises(TypeError, match="Tensor does not support deleting items"):
        del X[0]


def test_functions_of_gs_work_in_place():
    x = gs.tensor([0.5, -1.5])
    assert gs.abs_(x) is x
    assert gs.threshold_(x, 1.0, 9.0).tolist() == [9.0, 1.5]
    leaf = gs.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        gs.exp_(leaf)
    assert gs.fill(leaf, 3.0).tolist() == [3.0]


def test_copies_of_views_share_no_memory_and_have_names_of_their_own():
    x = gs.ones(2, 3, requires_grad=True)
    copy = gs.select_copy(x, 0, 1)
    assert type(copy.grad_fn).__name__ == "SelectBackward0_copy"
    assert not copy._is_view()
    assert type(x.unsafe_chunk(2)[0].mul_(2).grad_fn).__name__ == "MulBackward0"


def test_elements_are_changed_by_functions_of_python():
    x = gs.tensor([1.0, 2.0])
    assert x.apply_(lambda a: 2 * a).tolist() == [2.0, 4.0]
    assert x.map_(gs.ones(2), lambda a, b: a + b).tolist() == [3.0, 5.0]
    assert x.map2_(gs.ones(2), x, lambda a, b, c: a * c - b).tolist() == [8.0, 24.0]


def test_the_state_of_random_numbers_is_kept_and_restored():
    gs.manual_seed(3)
    state = gs.get_rng_state()
    first = gs.rand(3)
    gs.set_rng_state(state)
    assert gs.rand(3).tolist() == first.tolist()
    assert gs.initial_seed() == 3
    assert gs.seed() == gs.initial_seed()


def test_dropout_scales_what_it_keeps():
    gs.manual_seed(0)
    x = gs.ones(200, requires_grad=True)
    y = gs.dropout(x, 0.5, True)
    assert {*y.tolist()} == {0.0, 2.0}
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert gs.dropout(x, 0.5, False) is x


def test_signs_of_what_is_no_number_and_of_truth_values():
    nan = float("nan")
    assert gs.tensor([nan, -2.0, 0.0]).sign().tolist() == [0, -1, 0]
    assert gs.tensor([True, False]).sign().tolist() == [True, False]
    x = gs.tensor([nan, 3.0], requires_grad=True)
    x.sign().sum().backward()
    assert x.grad.tolist() == [0, 0]


def test_truth_values_of_bytes_are_bytes():
    x = gs.tensor([[1, 0], [2, 3]], dtype=gs.uint8)
    assert (x.all().dtype, x.any(1).dtype) == (gs.uint8, gs.uint8)
    assert (x.all(1).tolist(), x.any().item()) == ([0, 1], 1)
    assert gs.tensor([1, 2]).all().dtype == gs.bool


def test_copies_of_more_axes_are_refused():
    with pytest.raises(RuntimeError, match=r"\[3\] doesn't match the broadcast shape \[1, 3\]"):
        gs.zeros(3).copy_(gs.ones(1, 3))


def test_indices_without_axes_gather_from_vectors_and_numbers():
    x = gs.ones((), requires_grad=True)
    assert x.gather(0, gs.tensor([0, 0])).tolist() == [1, 1]
    y = gs.tensor([1.0, 2.0], requires_grad=True)
    y.gather(0, gs.tensor(1)).backward()
    assert y.grad.tolist() == [0, 1]


def test_typed_constructors_name_dtypes():
    assert gs.ones(2).type(gs.FloatTensor).dtype == gs.float32


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("data", "Deleting tensor data is not allowed. Delete tensor instead!"),
        ("_grad_fn", "Deletion of _grad_fn not allowed. Detach tensor instead!"),
        ("_backward_hooks", "Deletion of _backwards_hooks not allowed!"),
        ("requires_grad", "requires_grad must be a bool"),
    ],
)
def test_attributes_that_cannot_be_deleted(name, text):
    with pytest.raises(RuntimeError, match=text):
        delattr(gs.ones(1), name)


def test_outputs_are_looked_at_before_inputs():
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        gs.autograd.grad(gs.ones(1), gs.ones(1))


def test_a_recorded_gradient_is_copied_into_the_leaf():
    x = gs.ones(2, requires_grad=True)
    (x * x).sum().backward(create_graph=True)
    node = x.grad.grad_fn
    assert type(node).__name__ == "CopyBackwards"
    assert node.next_functions[0] == (None, 0)


def test_powers_of_zero_by_their_exponents():
    x = gs.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    gs.sum(gs.zeros(3) ** x).backward()
    assert x.grad.tolist() == [-float("inf"), 0, 0]
