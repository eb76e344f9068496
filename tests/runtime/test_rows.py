"""What each row says is there: names, methods, in-place forms, `out=`, docstrings; and what is made
of an operation of NumPy's has its values, and derivatives that differences confirm."""

import numpy as np
import pytest

import gradscribe as gs
import gradscribe.torchlike as torch
from gradscribe.runtime.arrays.rows import (
    CHANGING,
    FUNCTION,
    IN_PLACE_FUNCTION,
    MAIN,
    METHOD,
    OUT,
)
from gradscribe.runtime.operations.launcher_text import ALONG, BINARY, REDUCTION
from gradscribe.torchlike import fft, linalg, special
from gradscribe.torchlike.fft import FFT
from gradscribe.torchlike.nn import functional
from gradscribe.torchlike.nn.functional.rows import FUNCTIONAL
from gradscribe.torchlike.norms import LINALG
from gradscribe.torchlike.signal import windows
from gradscribe.torchlike.signal.windows import WINDOWS
from gradscribe.torchlike.special import SPECIAL

TABLES = [(MAIN, torch), (LINALG, linalg), (FFT, fft), (SPECIAL, special), (WINDOWS, windows)]
TABLES += [(FUNCTIONAL, functional)]
ROWS = [
    pytest.param(row, module, id=f"{table.name}.{row.name}")
    for table, module in TABLES
    for row in table
]


@pytest.mark.parametrize(("row", "module"), ROWS)
def test_the_forms_that_a_row_says_are_there(row, module):
    names = row.names() if row.spelling & FUNCTION else ()
    functions = [getattr(module, name) for name in names]
    assert all(map(callable, functions))
    if METHOD in row.spelling:
        assert all(callable(vars(gs.Tensor)[name]) for name in row.names())
    if CHANGING & row.spelling:
        assert all(callable(vars(gs.Tensor)[f"{name}_"]) for name in row.changing_names())
    if IN_PLACE_FUNCTION in row.spelling:
        assert all(callable(getattr(module, f"{name}_")) for name in row.changing_names())
    if OUT in row.spelling and functions:
        with pytest.raises((TypeError, RuntimeError)):
            functions[0](out="no Tensor")


@pytest.mark.parametrize(("row", "module"), ROWS)
def test_the_docstring_of_a_row_tells_shapes(row, module):
    first, *others = row.function.__doc__.split("\n\n")
    assert first
    assert any(part.startswith("Shapes: ") for part in others)


MADE = [row for row in MAIN if row.launcher is not None and row.function.__module__ == "gradscribe"]
SAMPLES = [np.array([[0.3, -0.7], [1.2, 0.45]]), np.array([[0.3, 0.7], [0.2, 0.45]])]
SAMPLES += [np.array([[1.3, 2.7], [1.2, 3.5]])]
INTEGERS = np.array([[3, 6], [4, 1]])


def arguments_of(row, sample):
    """Arguments of a function that is made of a row."""
    form, operation = row.launcher
    x = gs.tensor(sample, dtype=gs.int64 if sample.dtype.kind == "i" else gs.float64)
    if operation.callee in (np.dot, np.vdot):
        return (x[0], x[1])
    return (x, x.flip(1)) if form is BINARY else (x, 1) if form is ALONG else (x,)


def sample_of(row):
    """Elements of which the function is finite; integers where it takes only these."""
    for sample in SAMPLES:
        try:
            result = row.function(*arguments_of(row, sample))
        except (NotImplementedError, TypeError):
            continue
        if np.isfinite(result.array).all():
            return sample
    return INTEGERS


@pytest.mark.parametrize("row", MADE, ids=lambda row: row.name)
def test_values_are_those_of_numpy(row):
    form, operation = row.launcher
    args = arguments_of(row, sample_of(row))
    arrays = [a.array if isinstance(a, gs.Tensor) else a for a in args]
    expected = operation.callee(*arrays)
    np.testing.assert_allclose(getattr(torch, row.name)(*args).array, expected, rtol=1e-12)
    if form is REDUCTION:
        found = getattr(torch, row.name)(args[0], 1, True).array
        expected = operation.callee(arrays[0], axis=1, keepdims=True)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("row", MADE, ids=lambda row: row.name)
def test_methods_in_place_forms_and_out_give_the_same(row):
    args = arguments_of(row, sample_of(row))
    expected = getattr(torch, row.name)(*args)
    if METHOD in row.spelling:
        assert getattr(args[0], row.name)(*args[1:]).equal(expected)
    if OUT in row.spelling:
        out = torch.empty_like(expected)
        assert getattr(torch, row.name)(*args, out=out) is out
        assert out.equal(expected)
    if row.spelling & CHANGING:
        changed = args[0].clone()
        assert getattr(changed, f"{row.name}_")(*args[1:]) is changed
        assert changed.equal(expected.to(changed.dtype))
    if IN_PLACE_FUNCTION in row.spelling:
        changed = args[0].clone()
        assert getattr(torch, f"{row.name}_")(changed, *args[1:]).equal(expected)


@pytest.mark.parametrize("row", MADE, ids=lambda row: row.name)
def test_derivatives_are_confirmed_by_differences(row):
    sample = sample_of(row)
    args = arguments_of(row, sample)
    function = getattr(torch, row.name)
    if not row.launcher[1].differentiable or sample.dtype.kind == "i":
        needing = [
            a.detach().double().requires_grad_() if isinstance(a, gs.Tensor) else a for a in args
        ]
        try:
            assert not function(*needing).requires_grad
        except (NotImplementedError, TypeError):
            pass
        return
    needing = [a.detach().requires_grad_() if isinstance(a, gs.Tensor) else a for a in args]
    assert gs.autograd.gradcheck(function, tuple(needing))
