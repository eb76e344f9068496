"""Tensors print as in PyTorch."""

import re

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.runtime.arrays import printing


@pytest.mark.parametrize(
    "data, text",
    [
        ([1.0, 2.0], "tensor([1., 2.])"),
        ([1, 2], "tensor([1, 2])"),
        ([True, False], "tensor([ True, False])"),
        (23.5, "tensor(23.5000)"),
        (5.0, "tensor(5.)"),
        (5, "tensor(5)"),
        ([0.1, 12.25], "tensor([ 0.1000, 12.2500])"),
        ([-0.5, 1.5], "tensor([-0.5000,  1.5000])"),
        ([1.0, float("nan"), float("inf")], "tensor([1., nan, inf])"),
        ([0.5, float("-inf")], "tensor([0.5000,   -inf])"),
        ([0.0, 0.0], "tensor([0., 0.])"),
        ([1e-5, 1.0], "tensor([1.0000e-05, 1.0000e+00])"),
        ([1e9], "tensor([1.0000e+09])"),
        ([1.0, 2000.0], "tensor([1.0000e+00, 2.0000e+03])"),
        (1e-5, "tensor(1.0000e-05)"),
        ([[1.0, 2.0], [3.0, 4.5]], "tensor([[1.0000, 2.0000],\n        [3.0000, 4.5000]])"),
        (
            [[[1], [2]], [[3], [4]]],
            "tensor([[[1],\n         [2]],\n\n        [[3],\n         [4]]])",
        ),
        ([], "tensor([])"),
    ],
)
def test_elements_share_one_format(data, text):
    assert repr(gs.tensor(data)) == text


def test_dtypes_other_than_the_default_are_named():
    assert repr(gs.tensor([1.0], dtype=gs.float32)) == "tensor([1.], dtype=torch.float32)"
    assert repr(gs.tensor([1], dtype=gs.int32)) == "tensor([1], dtype=torch.int32)"
    gs.set_default_dtype(gs.float32)
    assert repr(gs.tensor([1.0])) == "tensor([1.])"
    assert repr(gs.zeros(1, dtype=gs.float64)) == "tensor([0.], dtype=torch.float64)"


def test_empty_tensors_name_size_and_dtype():
    assert repr(gs.zeros(0, 3)) == "tensor([], size=(0, 3))"
    assert repr(gs.tensor([], dtype=gs.int64)) == "tensor([], dtype=torch.int64)"


def test_complex_elements():
    assert repr(gs.tensor([1 + 2j, 3 - 4j])) == "tensor([1.+2.j, 3.-4.j])"


def test_requires_grad_and_grad_fn_are_told():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    assert repr(x) == "tensor([1., 2.], requires_grad=True)"
    assert repr(x + 1) == "tensor([2., 3.], grad_fn=<AddBackward0>)"
    assert repr((x + 20.5).sum()) == "tensor(44., grad_fn=<SumBackward0>)"
    assert repr(x.sum() * 2.25) == "tensor(6.7500, grad_fn=<MulBackward0>)"


def test_suffixes_go_to_a_line_of_their_own_where_the_last_is_full():
    x = gs.full((11,), 0.25).requires_grad_()
    assert repr(x) == (
        "tensor([0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500,\n"
        "        0.2500, 0.2500], requires_grad=True)"
    )
    y = gs.full((9,), 0.25).requires_grad_()
    assert repr(y) == (
        "tensor([0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500],\n"
        "       requires_grad=True)"
    )


def test_long_tensors_are_summarized():
    assert repr(gs.arange(2000)) == "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"
    assert repr(gs.zeros(40, 40)) == (
        "tensor([[0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        ...,\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.]])"
    )


def test_size_prints_as_in_pytorch():
    assert str(gs.zeros(5, 5).size()) == "torch.Size([5, 5])"
    assert repr(gs.tensor(1.0).shape) == "torch.Size([])"


def test_print_options():
    try:
        torchlike.set_printoptions(precision=2)
        assert repr(gs.tensor([0.125])) == "tensor([0.12])"
        torchlike.set_printoptions(sci_mode=True)
        assert repr(gs.tensor([0.5])) == "tensor([5.00e-01])"
    finally:
        printing.OPTIONS = printing.PrintOptions()


def test_format_of_one_number_and_of_several():
    assert f"{gs.tensor(1.25):.1f}" == "1.2"
    assert f"{gs.tensor([1.0])}" == "tensor([1.])"
    with pytest.raises(TypeError):
        format(gs.tensor([1.0, 2.0]), ".2f")


def test_nodes_print_with_their_names():
    x = gs.tensor([1.0], requires_grad=True)
    assert repr((x + 1).grad_fn).startswith("<AddBackward0 object at 0x")
    assert type((x + 1).grad_fn.next_functions[0][0]).__name__ == "AccumulateGrad"


def test_numpy_scalars_print_like_elements():
    assert repr(gs.tensor(np.float64(0.5))) == "tensor(0.5000)"


def test_a_matrix_that_requires_a_gradient():
    x = gs.rand(5, 5, generator=torchlike.Generator().manual_seed(0), requires_grad=True)
    text = repr(x)
    assert text.startswith("tensor([[0.")
    assert text.endswith("]], requires_grad=True)")
    assert len(text.splitlines()) == 5
    assert re.fullmatch(r"\d+\.\d+.*", gs.__version__)


def test_gradients_print_as_tensors(capsys):
    x, y = (gs.rand(5, 5, requires_grad=True) for _ in range(2))
    z = gs.sum(x + y)
    z.backward()
    print(x.grad, "\t", y.grad)
    ones = "tensor([" + ",\n        ".join(["[1., 1., 1., 1., 1.]"] * 5) + "])"
    assert capsys.readouterr().out == f"{ones} \t {ones}\n"


def test_a_sum_prints_its_node_and_its_gradient_ones():
    x = gs.rand(5, 5, requires_grad=True)
    y = gs.rand(5, 5, requires_grad=True)
    z = gs.sum(x + y)
    assert repr(z).endswith(", grad_fn=<SumBackward0>)")
    z.backward()
    assert repr(x.grad).startswith("tensor([[1., 1., 1., 1., 1.],\n")
