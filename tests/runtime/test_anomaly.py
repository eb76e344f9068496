"""`detect_anomaly`: which operation of the forward run a failing backward belongs to."""

import contextlib
import inspect
import linecache
import math
import re
import warnings

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.autograd import Function, detect_anomaly, set_detect_anomaly


class Failing(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        raise RuntimeError("some error in backward")


def all_warned(call, error):
    """The texts of the warnings that come with an error."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match=error):
            call()
    return [str(warning.message) for warning in caught]


def warned(call, error):
    """The text of the only warning that comes with an error."""
    (text,) = all_warned(call, error)
    return text


def anomalous():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return detect_anomaly()


def test_an_error_tells_where_the_operation_was_called():
    with anomalous():
        y = Failing.apply(gs.ones(1, requires_grad=True))
        text = warned(y.backward, "some error in backward")
    assert text.startswith("Error detected in FailingBackward. Traceback of forward call that")
    assert text.rstrip().endswith("y = Failing.apply(gs.ones(1, requires_grad=True))")


def test_a_nan_tells_which_node_made_it():
    with anomalous():
        root = gs.zeros(1, requires_grad=True).sqrt()
        text = warned((root * 0).backward, "Function 'SqrtBackward0' returned nan values in its 0t")
    assert text.rstrip().endswith("root = gs.zeros(1, requires_grad=True).sqrt()")


def test_without_forward_information_it_says_so():
    y = Failing.apply(gs.ones(1, requires_grad=True))
    with anomalous():
        text = warned(y.backward, "some error")
    assert text.startswith("Error detected in FailingBackward. No forward pass information avail")


@pytest.mark.parametrize("is_known", [True, False])
def test_a_double_backward_tells_of_both_runs(is_known):
    x = gs.ones(1, requires_grad=True)
    with anomalous() if is_known else contextlib.nullcontext():
        square = (x - 1).pow(1.5)
    with anomalous():
        (first,) = gs.autograd.grad(square, x, create_graph=True)
        texts = all_warned(lambda: gs.autograd.grad(first * 0, x), "returned nan values")
    start = (
        "\n\nPrevious calculation was induced by PowBackward0. Traceback of forward call that "
        "induced the previous calculation:\n"
    )
    unknown = "Error detected in PowBackward0. No forward pass information available."
    assert [text.rstrip().splitlines()[-1].strip() for text in texts] == [
        "(first,) = gs.autograd.grad(square, x, create_graph=True)",
        "square = (x - 1).pow(1.5)" if is_known else texts[1],
    ]
    assert texts[1].startswith(start if is_known else unknown)


def test_a_compiled_function_tells_the_line_of_the_user():
    @gs.differentiable
    def distance(x):
        square = np.sum(x * x)
        root = np.sqrt(square)
        return root * x[0]

    with anomalous():
        y = distance(gs.zeros(2, requires_grad=True))
        text = warned(y.backward, "Function 'DistanceBackward' returned nan values in its 0th")
    line = inspect.getsourcelines(distance)[1] + 3
    assert f'File "{__file__}", line {line}, whose derivative is NaN' in text
    assert "root = np.sqrt(square)" in text


def located(function, *leaves, call=lambda out: out.backward()):
    """The line of this file, without indent, that the warning blames for a NaN or an error."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        with pytest.raises((RuntimeError, ArithmeticError)), detect_anomaly():
            call(gs.differentiable(function)(*leaves))
    text = next(str(w.message) for w in caught if "Error detected" in str(w.message))
    (number,) = re.findall(r"line (\d+), whose derivative", text)
    return linecache.getline(__file__, int(number)).strip()


def store_of_a_root(x):
    y = np.zeros(3)
    y[0] = x[0] * 2
    y[1] = x[1] ** 2
    y[2] = (x[0] * 1.0) ** 0.5 * x[0]
    return np.sum(y)


def nan_of_the_primal(x):
    a = x * 2.0
    b = a / a[0] * x[0]
    return np.sum(b)


def nan_that_is_replaced(x):
    logs = np.log(x - 5.0)
    kept = np.where(np.isnan(logs), 0.0, logs)
    r = np.sqrt(x) * x
    return np.sum(kept * x) + np.sum(r)


def error_in_a_loop(x):
    s = 0.0
    for i in range(3):
        t = x[i] * 2.0
        s = s + math.sqrt(t) * t
    return s


def stores_undone(x):
    y = x.copy()
    for i in range(3):
        y[i] = np.sqrt(y[i]) * y[i]
        y[i] += 2.0
    return np.sum(y * y)


@pytest.mark.parametrize(
    ("function", "statement"),
    [
        (store_of_a_root, "y[2] = (x[0] * 1.0) ** 0.5 * x[0]"),
        (nan_of_the_primal, "b = a / a[0] * x[0]"),
        (nan_that_is_replaced, "r = np.sqrt(x) * x"),
        (error_in_a_loop, "s = s + math.sqrt(t) * t"),
        (stores_undone, "y[i] = np.sqrt(y[i]) * y[i]"),
    ],
)
def test_the_statement_is_told_in_which_a_nan_or_an_error_comes_up(function, statement):
    assert located(function, gs.tensor([0.0, 1.0, 4.0], requires_grad=True)) == statement


def test_a_nan_of_the_second_order_tells_the_line_of_the_user():
    def power(x):
        a = x * 2
        b = a**1.5
        return np.sum(b)

    x = gs.zeros(2, requires_grad=True)

    def twice(out):
        (first,) = gs.autograd.grad(out, x, create_graph=True)
        (first * 0).sum().backward()

    assert located(power, x, call=twice) == "b = a**1.5"


def test_the_traceback_ends_with_the_line_of_the_user():
    @gs.differentiable
    def root(x):
        return np.sqrt(x) * x

    with anomalous():
        y = root(gs.zeros(2, requires_grad=True)).sum()
        text = warned(y.backward, "Function 'RootBackward' returned nan values")
    before, _, _ = text.partition(", whose derivative")
    assert before.splitlines()[-2].strip() == "y = root(gs.zeros(2, requires_grad=True)).sum()"


def test_check_nan_may_be_off():
    x = gs.zeros(1, requires_grad=True)
    with set_detect_anomaly(True, check_nan=False), np.errstate(all="ignore"):
        (x.sqrt() * 0).backward()
    assert np.isnan(x.grad.array).all()


def test_the_mode_is_on_within_the_block_only():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        detect_anomaly()
    assert not torchlike.is_anomaly_enabled()
    set_detect_anomaly(True)
    assert torchlike.is_anomaly_enabled()
    set_detect_anomaly(False)
    assert not torchlike.is_anomaly_enabled()


def test_the_error_of_a_change_in_place_has_another_hint():
    x = gs.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="Error detected in PowBackward0"), detect_anomaly():
        y = x + 1
        z = y**2
        y += 1
        with pytest.raises(RuntimeError, match="the backtrace further above shows the operation"):
            z.sum().backward()


def test_a_warning_that_is_an_error_is_printed(capsys):
    x = gs.ones(2, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with detect_anomaly():
            warnings.simplefilter("error")
            y = x + 1
            z = y**2
            y += 1
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                z.sum().backward()
    assert "Error detected in PowBackward0" in capsys.readouterr().err


def test_a_later_line_of_a_statement_is_told_as_the_statement():
    @gs.differentiable
    def function(x):
        y = x * 1.0
        r = np.sqrt(y - y)
        return (r * x).sum()

    x = gs.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with detect_anomaly():
            out = function(x)
            with pytest.raises(RuntimeError, match="returned nan values in its 0th output"):
                out.backward()
    (text,) = [str(w.message) for w in told if "Error detected" in str(w.message)]
    assert "r = np.sqrt(y - y)" in text
    assert "In the generated function_adjoint" in text


def test_the_line_of_a_recursive_function_or_a_long_statement_is_told():
    def logs(x, n):
        if n == 0:
            return np.log(x) * x  # in the recursion
        return logs(x, n - 1) * 2

    def long(x):
        some_quite_long_name = x * 1.0
        another_quite_long_name = np.sqrt(some_quite_long_name) * some_quite_long_name * x + 1
        return np.sum(another_quite_long_name)

    for function, mark in (
        (lambda x: np.sum(logs(x, 3)), "np.log(x) * x  #"),
        (long, "another_quite_long_name = np.sqrt(some"),
    ):
        x = gs.tensor([0.0, 1.0], requires_grad=True)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with pytest.raises(RuntimeError, match="returned nan values"), detect_anomaly():
                gs.differentiable(function)(x).backward()
        text = next(str(w.message) for w in told if "Error detected" in str(w.message))
        source = linecache.getlines(__file__)
        line = 1 + next(i for i, found in enumerate(source) if mark in found)
        assert f'File "{__file__}", line {line}, whose derivative is NaN' in text


def test_of_a_statement_that_stands_there_twice_the_right_one_is_told():
    def twice(x):
        y = x * 4.0
        y = np.sqrt(y) - 2.0
        y = np.sqrt(y) - 2.0  # the last
        return np.sum(y) * (x[0] - 1.0)

    assert located(twice, gs.tensor([1.0], requires_grad=True)).endswith("# the last")
