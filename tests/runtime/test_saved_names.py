"""`_saved_*` of nodes: what each kind has kept, under PyTorch's names."""

import pytest

import gradscribe as gs
from gradscribe import torchlike

TABLE = [
    (lambda x: x.sum(0), {"dim": (0,), "keepdim": False, "self_sym_sizes": (1, 2)}),
    (lambda x: x.mean(), {"self_sym_numel": 2, "self_sym_sizes": (1, 2)}),
    (lambda x: x.exp(), {"result": [[2.718281828459045, 7.38905609893065]]}),
    (lambda x: x.rsqrt(), {"result": [[1.0, 0.7071067811865475]]}),
    (lambda x: x.softmax(1), {"dim": 1, "result": [[0.2689414213699951, 0.7310585786300049]]}),
    (lambda x: x.sin(), {"self": [[1.0, 2.0]]}),
    (lambda x: x.pow(2), {"self": [[1.0, 2.0]], "exponent": 2}),
    (lambda x: 2 * x, {"self": None, "other": 2}),
    (lambda x: x / x, {"self": [[1.0, 2.0]], "other": [[1.0, 2.0]]}),
    (lambda x: x / 2, {"self": None, "other": 2}),
    (lambda x: x @ x.t(), {"self": [[1.0, 2.0]], "mat2": [[1.0], [2.0]]}),
    (lambda x: x[:, 1:], {"dim": 1, "start": 1, "step": 1, "self_sym_sizes": (1, 2)}),
    (lambda x: x[0], {"dim": 0, "index": 0}),
    (lambda x: x.max(1).values, {"dim": 1, "indices": [1], "keepdim": False}),
    (lambda x: x.sort(1)[0], {"dim": 1, "indices": [[0, 1]]}),
    (lambda x: x.transpose(0, 1), {"dim0": 0, "dim1": 1}),
    (lambda x: x.squeeze(0), {"dim": 0}),
    (lambda x: x.clamp(0, 1), {"min": 0, "max": 1, "self": [[1.0, 2.0]]}),
    (lambda x: x.std(1), {"correction": 1, "dim": (1,), "result": [0.7071067811865476]}),
    (lambda x: x.norm(), {"ord": 2, "dim": None, "result": 2.23606797749979}),
    (lambda x: x + x, {"alpha": 1}),
    (lambda x: x.addcmul(x, x, value=3), {"value": 3, "tensor1": [[1.0, 2.0]]}),
    (lambda x: x[gs.tensor([0])], {"self_sym_sizes": (1, 2)}),
    (lambda x: x.square(), {"self": [[1.0, 2.0]], "exponent": 2}),
    (lambda x: x.clamp_min(1.5), {"self": [[1.0, 2.0]], "min": 1.5}),
    (lambda x: x.clamp_max(x), {"self": [[1.0, 2.0]], "max": [[1.0, 2.0]]}),
    (lambda x: (x * 1).transpose_(0, 1), {"dim0": 0, "dim1": 1}),
    (lambda x: x[:, None], {"dim": 1}),
    (lambda x: x.fmod(x), {"self": [[1.0, 2.0]], "other": [[1.0, 2.0]]}),
]

NAMES = [
    (lambda x, s: x.square(), "PowBackward0"),
    (lambda x, s: (x * 1).square_(), "PowBackward0"),
    (lambda x, s: x.clamp_min(0.5), "ClampMinBackward0"),
    (lambda x, s: x.clamp_max(s), "ClampMaxBackward1"),
    (lambda x, s: x.clamp(min=s), "ClampBackward0"),
    (lambda x, s: x.masked_fill(x > 0, s), "MaskedFillBackward1"),
    (lambda x, s: x.lerp(x, s), "LerpBackward1"),
    (lambda x, s: x.lerp(x, 0.5), "LerpBackward0"),
    (lambda x, s: x.copysign(1.0), "CopysignBackward1"),
    (lambda x, s: x.scatter(1, gs.tensor([[0, 1]]), 2.0), "ScatterBackward1"),
    (lambda x, s: x.index_fill(1, gs.tensor([0]), s), "IndexFillBackward1"),
    (lambda x, s: x.div(2, rounding_mode="floor"), "DivBackward2"),
    (lambda x, s: x.div(x, rounding_mode="trunc"), "DivBackward2"),
    (lambda x, s: x.median(1)[0], "MedianBackward1"),
    (lambda x, s: x.median(), "MedianBackward0"),
    (lambda x, s: x.angle(), "AngleBackward0"),
    (lambda x, s: torchlike.complex(x, x), "ComplexBackward0"),
    (lambda x, s: torchlike.polar(x, x), "PolarBackward0"),
    (lambda x, s: torchlike.complex(x, x).conj(), "ConjBackward0"),
    (lambda x, s: (x * 0).asinh_(), "AsinhBackward1"),
    (lambda x, s: (x * 1).fill_(s), "FillBackward3"),
    (lambda x, s: s.flip(()), "FlipBackward0"),
    (lambda x, s: s.transpose(0, 0), "TransposeBackward0"),
    (lambda x, s: x[...], "AliasBackward0"),
    (lambda x, s: x[0].diag_embed(), "DiagEmbedBackward0"),
    (lambda x, s: torchlike.linalg.eigvalsh(x.t() @ x), "LinalgEighBackward0"),
    (lambda x, s: torchlike.linalg.svdvals(x), "LinalgSvdBackward0"),
    (lambda x, s: stored(x, x > 1, 0.0), "MaskedFillBackward0"),
    (lambda x, s: stored(x, ..., x), "torch::autograd::CopyBackwards"),
]


def stored(x, place, value):
    y = x * 1
    y[place] = value
    return y


@pytest.mark.parametrize(("call", "name"), NAMES)
def test_nodes_have_the_names_and_numbers_of_pytorch(call, name):
    x = gs.tensor([[1.0, 2.0]], requires_grad=True)
    assert call(x, gs.tensor(0.5, requires_grad=True)).grad_fn.name() == name


def test_what_a_number_has_overwritten_leads_to_one_node():
    x = gs.ones(2, requires_grad=True) * 1
    assert len((x * 1).zero_().grad_fn.next_functions) == 1
    assert len((x * 1).fill_(2).grad_fn.next_functions) == 1
    assert len((x * 1).fill_(gs.ones(())).grad_fn.next_functions) == 2
    part = x * 1
    part[0] = 3
    assert len(part.grad_fn.next_functions) == 1
    part.grad_fn.register_hook(lambda grad_inputs, _: (grad_inputs[0] * 2,))
    x.retain_grad()
    part.sum().backward()
    assert x.grad.tolist() == [0, 2]


def test_a_bound_that_is_met_takes_none_of_the_derivative():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    bound = gs.tensor([1.0, 3.0], requires_grad=True)
    for clamped in (x.clamp(min=bound), x.clamp_min(bound), x.clamp(bound, bound + 9)):
        found = gs.autograd.grad(clamped.sum(), (x, bound))
        assert [gradient.tolist() for gradient in found] == [[1, 0], [0, 1]]


@pytest.mark.parametrize(("call", "expected"), TABLE)
def test_saved_values(call, expected):
    x = gs.tensor([[1.0, 2.0]], requires_grad=True)
    node = call(x).grad_fn
    found = {name: getattr(node, f"_saved_{name}") for name in expected}
    plain = {n: v.tolist() if isinstance(v, gs.Tensor) else v for n, v in found.items()}
    assert plain == expected
    assert {f"_saved_{name}" for name in expected} <= {*dir(node)}


def test_a_saved_operand_is_the_leaf_and_a_saved_result_leads_to_the_node():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x.sigmoid()
    assert x.log().grad_fn._saved_self is x
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn


def test_what_is_not_kept_is_no_attribute():
    node = gs.ones(1, requires_grad=True).exp().grad_fn
    assert "_saved_self" not in dir(node)
    with pytest.raises(
        AttributeError, match="'ExpBackward0' object has no attribute '_saved_self'"
    ):
        node._saved_self


def test_an_axis_that_is_not_dropped_is_no_saved_axis():
    x = gs.ones(2, 2, requires_grad=True)
    assert x.squeeze(0).grad_fn._saved_dim is None


def test_what_pieces_keep_is_listed():
    node = gs.ones(4, requires_grad=True).split(2)[0].grad_fn
    kept = {name for name in dir(node) if name.startswith("_saved_")}
    assert kept == {"_saved_dim", "_saved_self_sym_sizes", "_saved_split_size"}


def test_the_base_of_functions_has_no_forward():
    with pytest.raises(NotImplementedError, match="You must implement the forward function"):
        gs.autograd.Function.apply(gs.ones(1))
