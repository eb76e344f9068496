"""`torchlike.nn.functional`: values, derivatives of both orders, the same in compiled functions."""

import warnings

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.torchlike.nn import functional as F
from tests.nn.cases import CASES, CONVOLUTIONS, IMAGE, LINE, X
from tests.sampling import one_in


def _name(case):
    name, args, keywords, _ = case
    shapes = [str(np.shape(a)) if isinstance(a, np.ndarray) else str(a) for a in args]
    return " ".join([name, *shapes, *(k for k in keywords)])


def is_active(argument):
    return isinstance(argument, np.ndarray) and argument.dtype.kind == "f"


def tensors(args):
    return [gs.tensor(a) if isinstance(a, np.ndarray) else a for a in args]


def called(case):
    """The function of its differentiable arguments, and those."""
    name, args, keywords, _ = case
    given = tensors(args)
    named = {k: gs.tensor(v) if isinstance(v, np.ndarray) else v for k, v in keywords.items()}
    active = [i for i, a in enumerate(args) if is_active(a)]

    def function(*values):
        arguments = [*given]
        for position, value in zip(active, values, strict=True):
            arguments[position] = value
        return getattr(F, name)(*arguments, **named)

    return function, [args[i] for i in active]


VALUED = [case for case in CASES if case[3] is not None]


@pytest.mark.parametrize("case", VALUED, ids=_name)
def test_values_are_those_of_the_formula(case):
    function, arrays = called(case)
    found = function(*map(gs.tensor, arrays)).numpy()
    np.testing.assert_allclose(found, case[3], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", one_in(8, CASES), ids=_name)
def test_derivatives_of_both_orders(case):
    function, arrays = called(case)
    inputs = [gs.tensor(array, requires_grad=True) for array in arrays]
    assert gs.autograd.gradcheck(function, inputs)
    if inputs[0].numel() < 60:
        assert gs.autograd.gradgradcheck(function, inputs)


@pytest.mark.parametrize("case", one_in(8, CASES), ids=_name)
def test_compiled_functions_may_call_it_with_arrays(case):
    function, arrays = called(case)
    inputs = [gs.tensor(array, requires_grad=True) for array in arrays]
    result = function(*inputs)
    expected = gs.autograd.grad((result * result).sum(), inputs, allow_unused=True)
    name, args, keywords, _ = case
    program = _program(name, args, keywords)
    value, found = gs.value_and_grad(program, argnums=tuple(range(len(arrays))))(*arrays)
    np.testing.assert_allclose(value, (result * result).sum().item())
    for gradient, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(gradient, wanted.numpy(), rtol=1e-9, atol=1e-12)


def _program(name, args, keywords):
    """A function of the differentiable arguments, as a user writes it."""
    function = getattr(F, name)
    if sum(map(is_active, args)) == 1 and is_active(args[0]):
        rest = args[1:]

        def program(a):
            y = function(a, *rest, **keywords)
            return (y * y).sum()

        return program
    slots = [is_active(a) for a in args]

    def of_many(*values):
        taken = iter(values)
        arguments = [next(taken) if slot else a for slot, a in zip(slots, args)]
        y = function(*arguments, **keywords)
        return (y * y).sum()

    return of_many


@pytest.mark.parametrize("case", CONVOLUTIONS[-5:-2], ids=_name)
def test_a_transposed_convolution_is_the_adjoint_of_a_convolution(case):
    name, (x, weight, *_), options, _ = case
    options = {k: v for k, v in options.items() if k != "output_padding"}
    result = getattr(F, name)(gs.tensor(x), gs.tensor(weight), **options)
    y = gs.tensor(np.random.default_rng(1).standard_normal(result.shape))
    back = getattr(F, name.replace("_transpose", ""))(y, gs.tensor(weight), **options)
    np.testing.assert_allclose((result * y).sum().item(), (gs.tensor(x) * back).sum().item())


def test_a_fold_is_the_adjoint_of_an_unfold():
    image = gs.tensor(IMAGE)
    blocks = F.unfold(image, 3, dilation=1, padding=1, stride=2)
    other = gs.tensor(np.random.default_rng(1).standard_normal(blocks.shape))
    back = F.fold(other, (5, 5), 3, dilation=1, padding=1, stride=2)
    np.testing.assert_allclose((blocks * other).sum().item(), (image * back).sum().item())


def test_a_maximum_tells_where_it_is():
    values, indices = F.max_pool2d(gs.tensor(IMAGE), 2, return_indices=True)
    flat = IMAGE.reshape(2, 4, -1)
    found = np.take_along_axis(flat, indices.numpy().reshape(2, 4, -1), -1)
    np.testing.assert_array_equal(found, values.numpy().reshape(2, 4, -1))
    back = F.max_unpool2d(values, indices, 2, output_size=(5, 5))
    assert back.shape == (2, 4, 5, 5)
    assert back.sum().item() == pytest.approx(values.sum().item())


def test_windows_may_hold_nothing_but_minus_infinity():
    x = gs.full((1, 1, 3), -np.inf)
    values, indices = F.max_pool1d(x, 2, stride=1, padding=1, return_indices=True)
    assert values.tolist() == [[[-np.inf] * 4]]
    assert indices.min().item() >= 0 and indices.max().item() <= 2


def test_inputs_without_a_batch():
    image = gs.tensor(IMAGE)
    weight = gs.ones((2, 4, 3, 3))
    for function in (lambda x: F.conv2d(x, weight), lambda x: F.max_pool2d(x, 2)):
        np.testing.assert_array_equal(function(image[0]).numpy(), function(image)[0].numpy())


def test_batch_norm_moves_its_running_averages():
    x = gs.tensor(LINE)
    mean, variance = gs.zeros(3), gs.ones(3)
    F.batch_norm(x, mean, variance, training=True, momentum=0.25)
    np.testing.assert_allclose(mean.numpy(), 0.25 * LINE.mean((0, 2)))
    np.testing.assert_allclose(variance.numpy(), 0.75 + 0.25 * LINE.var((0, 2), ddof=1))


def test_dropout_is_repeated_with_a_generator():
    x = gs.ones(1000)
    draws = [F.dropout(x, 0.25, generator=torchlike.Generator().manual_seed(3)) for _ in range(2)]
    assert draws[0].tolist() == draws[1].tolist()
    assert set(draws[0].tolist()) == {0.0, 1 / 0.75}
    assert 200 < (draws[0] == 0).sum().item() < 300
    channels = F.dropout2d(gs.ones((4, 5, 3, 3)), generator=torchlike.Generator().manual_seed(3))
    assert {*np.ptp(channels.numpy(), axis=(2, 3)).ravel()} == {0.0}


def test_alpha_dropout_keeps_mean_and_variance():
    x = gs.randn(20000, generator=torchlike.Generator().manual_seed(0))
    y = F.alpha_dropout(x, 0.3, True, generator=torchlike.Generator().manual_seed(1))
    assert abs(y.mean().item()) < 0.05
    assert abs(y.std().item() - 1) < 0.05


def test_inplace_changes_the_input():
    for name in ("relu", "hardtanh", "leaky_relu", "elu", "silu", "mish", "hardswish"):
        x = gs.tensor(X)
        wanted = getattr(F, name)(x).tolist()
        assert getattr(F, name)(x, inplace=True) is x
        assert x.tolist() == wanted


def test_functions_with_an_underscore_change_the_input():
    options = {"threshold": (0.1, 2.0), "hardtanh": (-0.5, 0.5)}
    for name in ("relu", "hardtanh", "leaky_relu", "elu", "celu", "selu", "rrelu", "threshold"):
        x = gs.tensor(X)
        wanted = getattr(F, name)(x, *options.get(name, ())).tolist()
        assert getattr(F, f"{name}_")(x, *options.get(name, ())) is x
        assert x.tolist() == wanted
    x = gs.tensor(X)
    assert F.hardtanh(x, -0.5, 0.5, True) is x


def test_a_reduction_may_be_asked_for_in_the_older_way():
    x, y = gs.tensor(X), gs.tensor(X + 2)
    assert F.mse_loss(x, y, False).item() == 4 * X.size
    assert F.mse_loss(x, y, size_average=True, reduction="none").item() == 4
    assert F.mse_loss(x, y, None, False).tolist() == F.mse_loss(x, y, reduction="none").tolist()
    assert F.mse_loss(x, y, None, None, "sum").item() == 4 * X.size
    assert F.poisson_nll_loss(x, y, True, False, False, 1e-8).shape == ()
    assert F.kl_div(x, y, size_average=False, reduction="batchmean").shape == ()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: F.mse_loss(x), r"mse_loss\(\) missing 1 required positional argument: 'target'"),
        (
            lambda x: F.mse_loss(x, x, input=x),
            r"mse_loss\(\): multiple values for argument",
        ),
        (lambda x: F.soft_margin_loss(x, x, *[None] * 4), r"too many positional arguments"),
        (lambda x: F.huber_loss(x, x, reduce=True), r"unexpected keyword argument 'reduce'"),
        (lambda x: F.triplet_margin_with_distance_loss(x, x, x, x), r"too many positional"),
        (lambda x: F.relu(x, True, 1), r"relu\(\) takes 1 positional argument but 3 were given"),
        (lambda x: F.conv2d(x), r"conv2d\(\) missing 1 required positional argument: 'weight'"),
    ],
)
def test_wrong_arguments_are_refused_by_name(call, text):
    with pytest.raises(TypeError, match=text):
        call(gs.tensor(X))


def test_one_hot_and_its_count():
    assert F.one_hot(gs.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert F.one_hot(gs.tensor([1]), 2).tolist() == [[0, 1]]


def test_the_padding_row_of_an_embedding_has_no_derivative():
    weight = gs.tensor(np.ones((3, 2)), requires_grad=True)
    rows = F.embedding(gs.tensor([1, 0, 1]), weight, padding_idx=1)
    assert rows.shape == (3, 2)
    rows.sum().backward()
    assert weight.grad.tolist() == [[1, 1], [0, 0], [0, 0]]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_gradient_of_a_row_of_an_embedding_is_divided_by_how_often_it_is_taken(dtype):
    weight = gs.tensor(np.array([[1, 2], [3, 4], [np.inf, 6]], dtype), requires_grad=True)
    index = gs.tensor([[1, 0], [1, 2]])
    rows = F.embedding(index, weight, scale_grad_by_freq=True)
    np.testing.assert_array_equal(rows.detach().numpy(), weight.detach().numpy()[index.numpy()])
    (rows * gs.tensor(np.array([[[1], [2]], [[5], [7]]], dtype))).sum().backward()
    assert weight.grad.tolist() == [[2, 2], [3, 3], [7, 7]]
    assert weight.grad.numpy().dtype == rows.detach().numpy().dtype == dtype

    without = F.embedding(index, weight, padding_idx=1, scale_grad_by_freq=True)
    (gradient,) = gs.autograd.grad(without.sum(), weight)
    assert gradient.tolist() == [[1, 1], [0, 0], [1, 1]]


def test_an_embedding_shortens_long_rows():
    weight = gs.tensor([[3.0, 4.0], [0.3, 0.4]])
    F.embedding(gs.tensor([0, 1]), weight, max_norm=1.0)
    np.testing.assert_allclose(weight.numpy(), [[0.6, 0.8], [0.3, 0.4]], atol=1e-6)


def test_attention_that_sees_nothing_is_zero():
    x = gs.tensor(X, requires_grad=True)
    mask = gs.tensor([[True, True, False], [False] * 3, [True] * 3])
    y = F.scaled_dot_product_attention(x, x, x, mask)
    assert y[1].tolist() == [0.0] * 4
    y.sum().backward()
    assert np.isfinite(x.grad.numpy()).all()


def test_a_softmax_of_nothing_is_nothing():
    x = gs.ones((5, 0), requires_grad=True)
    for function in (F.softmax, F.log_softmax, F.softmin):
        assert function(x, -1).shape == (5, 0)
    assert gs.logsumexp(x, 1).tolist() == [-np.inf] * 5


def test_dtypes_are_kept():
    x = gs.tensor(np.ones((1, 2, 4, 4), np.float32))
    weight = gs.tensor(np.ones((2, 2, 3, 3), np.float32))
    for y in (
        *(F.conv2d(x, weight), F.conv_transpose2d(x, weight), F.max_pool2d(x, 2)),
        *(F.avg_pool2d(x, 3, padding=1, count_include_pad=False), F.adaptive_avg_pool2d(x, 3)),
        *(F.interpolate(x, 3, mode="bicubic"), F.layer_norm(x, (4,)), F.pad(x, (1, 1))),
        *(
            F.dropout(x),
            F.gelu(x, "tanh"),
            F.softplus(x),
            F.mse_loss(x, x),
            F.alpha_dropout(x, 0.5, True),
        ),
    ):
        assert y.dtype == gs.float32


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: F.conv2d(gs.ones((1, 3, 4, 4)), gs.ones((2, 4, 3, 3))),
            RuntimeError,
            "Given groups=1, weight of size [2, 4, 3, 3], expected input[1, 3, 4, 4] to have 4 "
            "channels, but got 3 channels instead",
        ),
        (
            lambda: F.conv1d(gs.ones((1, 3, 2)), gs.ones((2, 3, 3))),
            RuntimeError,
            "Calculated padded input size per channel: (2). Kernel size: (3). Kernel size can't be "
            "greater than actual input size",
        ),
        (
            lambda: F.cross_entropy(gs.ones((2, 3)), gs.tensor([0, 3])),
            IndexError,
            "Target 3 is out of bounds.",
        ),
        (
            lambda: F.nll_loss(gs.ones((2, 3)), gs.tensor([0, 1, 2])),
            ValueError,
            "Expected input batch_size (2) to match target batch_size (3).",
        ),
        (
            lambda: F.mse_loss(gs.ones(2), gs.ones(2), reduction="total"),
            ValueError,
            "total is not a valid value for reduction",
        ),
        (
            lambda: F.max_pool2d(gs.ones((1, 1, 4, 4)), 2, padding=2),
            RuntimeError,
            "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and "
            "dilation=1",
        ),
        (
            lambda: F.linear(gs.ones((2, 3)), gs.ones((4, 5))),
            RuntimeError,
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 5x4)",
        ),
        (
            lambda: F.conv2d(gs.ones(1, 1, 4, 4), gs.ones(1, 1, 2, 2), gs.ones(2)),
            RuntimeError,
            "Given weight of size [1, 1, 2, 2], expected bias to be 1-dimensional with 1 elements, "
            "but got bias of size [2] instead",
        ),
        (
            lambda: F.max_unpool2d(gs.ones(1, 1, 2, 2), gs.full((1, 1, 2, 2), 20), 2),
            RuntimeError,
            "Found an invalid max index: 20 (output volumes are of size 4x4)",
        ),
        (
            lambda: F.max_unpool1d(gs.ones(1, 1, 2), gs.tensor([[[0, 2]]]), 2, output_size=(9,)),
            ValueError,
            'invalid output_size "(9,)" (dim 0 must be between 2 and 6)',
        ),
        (
            lambda: F.embedding(gs.tensor([-1]), gs.ones(3, 2)),
            IndexError,
            "index out of range in self",
        ),
        (
            lambda: F.embedding(gs.tensor([1.0]), gs.ones(3, 2)),
            RuntimeError,
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            "Long, Int; but got torch.DoubleTensor instead (while checking arguments for "
            "embedding)",
        ),
        (
            lambda: F.nll_loss(gs.ones(2, 3), gs.tensor([0, 1]), weight=gs.ones(2)),
            RuntimeError,
            "weight tensor should be defined either for all 3 classes or no classes but got weight "
            "tensor of shape: [2]",
        ),
        (
            lambda: F.cross_entropy(gs.ones(2, 3), gs.tensor([0, 1]), label_smoothing=2.0),
            RuntimeError,
            "label_smoothing must be between 0.0 and 1.0. Got: 2",
        ),
        (
            lambda: F.binary_cross_entropy(gs.tensor([2.0]), gs.ones(1)),
            RuntimeError,
            "all elements of input should be between 0 and 1",
        ),
        (
            lambda: F.unfold(gs.ones(1, 1, 2, 2), 3),
            RuntimeError,
            "Given input with spatial size (2, 2), kernel_size=(3, 3), dilation=(1, 1), "
            "padding=(0, 0), calculated shape of the array of sliding blocks as (0, 0), but its "
            "components must be at least one.",
        ),
        (
            lambda: F.dropout(gs.ones(3), 2.0),
            ValueError,
            "dropout probability has to be between 0 and 1, but got 2.0",
        ),
        (
            lambda: F.pad(gs.ones((1, 1, 2)), (2, 0), "reflect"),
            RuntimeError,
            "Argument #4: Padding size should be less than the corresponding input dimension, but "
            "got: padding (2, 0) at dimension 2 of input [1, 1, 2]",
        ),
    ],
)
def test_errors_have_the_words_of_pytorch(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text


def test_a_target_of_another_shape_is_warned_of():
    with pytest.warns(UserWarning, match="Using a target size"):
        F.mse_loss(gs.ones(3), gs.ones((3, 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.mse_loss(gs.ones(3), gs.ones(3))


@pytest.mark.parametrize(
    ("lengths", "biased", "expected"),
    [
        ((4, 2), True, "Addmm(x x T(x))"),
        ((4, 2), False, "Mm(x T(x))"),
        ((2,), True, "View(Addmm(x View(x) T(x)))"),
        ((3, 4, 2), True, "View(Addmm(x View(x) T(x)))"),
    ],
)
def test_the_graph_of_a_linear_layer(lengths, biased, expected):
    def told(node):
        inputs = " ".join(told(n) for n, _ in node.next_functions)
        return f"{node.name()[:-9]}({inputs})" if inputs else "x"

    x, weight, bias = (gs.rand(*s, requires_grad=True) for s in (lengths, (3, 2), (3,)))
    arguments = (x, weight, bias) if biased else (x, weight)
    out = F.linear(*arguments)
    assert told(out.grad_fn) == expected
    plain = x.detach().numpy() @ weight.detach().numpy().T
    np.testing.assert_allclose(
        out.detach().numpy(), plain + bias.detach().numpy() if biased else plain
    )
    assert gs.autograd.gradgradcheck(F.linear, arguments)


def test_what_the_node_of_a_linear_layer_has_saved():
    x, weight, bias = (gs.rand(*s, requires_grad=True) for s in ((4, 2), (3, 2), (3,)))
    node = F.linear(x, weight, bias).grad_fn
    assert (node._saved_alpha, node._saved_beta) == (1, 1)
    assert node._saved_mat1 is x
    assert node._saved_mat2.shape == (2, 3)


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_arrays_are_taken_for_tensors(case):
    name, args, keywords, _ = case
    of_arrays = getattr(F, name)(*args, **keywords)
    named = {k: gs.tensor(v) if isinstance(v, np.ndarray) else v for k, v in keywords.items()}
    of_tensors = getattr(F, name)(*tensors(args), **named)
    for given, expected in zip(_parts(of_arrays), _parts(of_tensors), strict=True):
        assert isinstance(given, gs.Tensor)
        np.testing.assert_array_equal(given.numpy(), expected.numpy())


def _parts(result):
    return result if isinstance(result, tuple) else (result,)


def test_dropout_draws_from_the_generator_of_numpy_that_it_is_given():
    def dropped(x, generator):
        return np.sum(F.dropout(x, 0.5, generator=generator) * X)

    x = np.ones((3, 4))
    kept = np.random.default_rng(0).random((3, 4)) >= 0.5
    np.testing.assert_array_equal(
        gs.grad(dropped)(x, np.random.default_rng(0)), np.where(kept, 2 * X, 0)
    )
    given = gs.tensor(x, requires_grad=True)
    dropped(given, np.random.default_rng(0)).backward()
    np.testing.assert_array_equal(given.grad.numpy(), np.where(kept, 2 * X, 0))


def test_dropout_draws_nothing_when_it_changes_nothing():
    generator = np.random.default_rng(0)
    F.dropout(gs.ones(3), 0.5, training=False, generator=generator)
    F.alpha_dropout(gs.ones(3), 0.0, training=True, generator=generator)
    assert generator.random() == np.random.default_rng(0).random()


def test_rows_that_are_shortened_keep_their_tangent():
    weight = gs.tensor([[3.0, 4.0], [0.1, 0.2]])
    with gs.autograd.forward_ad.dual_level():
        dual = gs.autograd.forward_ad.make_dual(weight, gs.ones(2, 2))
        rows = F.embedding(gs.tensor([0]), dual, max_norm=1.0)
        primal, tangent = gs.autograd.forward_ad.unpack_dual(rows)
    np.testing.assert_allclose(primal.numpy(), [[0.6, 0.8]], rtol=1e-6)
    assert tangent.tolist() == [[1, 1]]


def test_weights_of_a_binary_cross_entropy_are_those_of_examples_and_of_positives():
    x, target = np.array([0.3, -1.2, 0.8]), np.array([0.0, 1.0, 1.0])
    weight, positive = np.array([0.5, 2.0, 1.0]), np.array([3.0, 4.0, 5.0])
    found = F.binary_cross_entropy_with_logits(
        *map(gs.tensor, (x, target)),
        weight=gs.tensor(weight),
        pos_weight=gs.tensor(positive),
        reduction="none",
    )
    p = 1 / (1 + np.exp(-x))
    wanted = -weight * (positive * target * np.log(p) + (1 - target) * np.log(1 - p))
    np.testing.assert_allclose(found.numpy(), wanted)
