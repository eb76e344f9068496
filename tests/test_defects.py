"""What is neither a refusal nor the user's exception leaves the compiler as an `InternalError`."""

import pickle

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import codegen
from gradscribe.codegen.statements import Statements
from gradscribe.compiler import generated, stages
from gradscribe.errors import GradscribeError, InternalError, UnsupportedError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.primitives.typing import TypeRuleError
from gradscribe.transforms import adjoint, tangent
from gradscribe.transforms.adjoint.scopes import Scope
from gradscribe.transforms.passes.bufferize.aliasing import Aliasing


def program(x):
    y = x * x
    return np.sum(y)


def changing(x):
    y = x * x
    y[0] = x[1]
    return np.sum(y * y)


X = np.ones(3)
REVERSE = (
    lambda: gs.grad(program)(X),
    lambda: gs.value_and_grad(program)(X),
    lambda: gs.vjp(program, X)[1](1.0),
    lambda: gs.jacrev(program)(X),
    lambda: gs.differentiable(program).specialize(X),
    lambda: gs.differentiable(program)(gs.tensor(X, requires_grad=True)).backward(),
)
FORWARD = (
    lambda: gs.jvp(program, (X,), (X,)),
    lambda: gs.jacfwd(program)(X),
    lambda: gs.hvp(program, (X,), (X,)),
    lambda: gs.hessian(program)(X),
)


@pytest.fixture(autouse=True)
def anew():
    """Nothing that was compiled before is found; all modules are imported."""
    code = program.__code__
    for call in REVERSE + FORWARD:
        call()
    program.__code__ = code.replace(co_name=code.co_name)
    yield
    program.__code__ = code


PLANTED = (
    (Lowering, "plain", REVERSE + FORWARD),
    (adjoint, "differentiate", REVERSE),
    (tangent, "differentiate", FORWARD),
    (stages, "simplify", REVERSE),
    (generated, "bufferize", REVERSE + FORWARD),
    (codegen, "emit", REVERSE[:4] + REVERSE[5:] + FORWARD),
)


@pytest.mark.parametrize(
    ("module", "name", "call"),
    [
        pytest.param(module, name, call, id=f"{module.__name__}.{name}-{number}")
        for module, name, calls in PLANTED
        for number, call in enumerate(calls)
    ],
)
def test_a_defect_anywhere_is_said_to_be_one(monkeypatch, module, name, call):
    monkeypatch.setattr(module, name, None)
    with pytest.raises(InternalError, match="a defect of gradscribe") as caught:
        call()
    assert isinstance(caught.value.__cause__, TypeError)
    assert not isinstance(caught.value, UnsupportedError)


@pytest.mark.parametrize(
    ("cls", "name"),
    [(Lowering, "plain"), (Scope, "add_to_source"), (Aliasing, "buffers"), (Statements, "block")],
)
def test_it_has_a_place_in_the_users_source(monkeypatch, cls, name):
    monkeypatch.setattr(cls, name, None)
    with pytest.raises(InternalError) as caught:
        gs.grad(changing)(X)
    assert caught.value.location.filename == __file__


def test_it_says_where_what_to_report_and_how_to_go_on(monkeypatch):
    monkeypatch.setattr(Lowering, "plain", None)
    with pytest.raises(InternalError) as caught:
        gs.grad(program)(X)
    text = str(caught.value)
    assert "    y = x * x\n        ^^^^^\n" in text
    assert "Instead: run the function as it is, by `compile=False`" in text
    assert f"gradscribe {gs.__version__}, numpy {np.__version__}" in text
    assert ", Python 3." in text
    assert str(pickle.loads(pickle.dumps(caught.value))) == text


class Angry:
    """Reading its rate fails in the user's own code."""

    @property
    def rate(self):
        raise ZeroDivisionError("the user's own")


def test_an_exception_of_the_users_own_code_stays_what_it_is():
    def scale(x):
        return x * angry.rate

    angry = Angry()
    with pytest.raises((ZeroDivisionError, UnsupportedError)):
        gs.grad(scale)(2.0)


class Named(dict):
    """Its items are attributes, too: for a name that is no key, a KeyError."""

    def __getattr__(self, name):
        return self[name]


class Vague:
    """It has every attribute, also those of Python's own."""

    rate = 2.0

    def __getattr__(self, name):
        return self


class Comparing:
    """Its comparisons give arrays; it has neither a hash nor a truth value nor a length."""

    rate = 2.0
    __hash__ = None

    def __eq__(self, other):
        return np.array([True, False])

    def __bool__(self):
        raise ArithmeticError("truth")

    def __len__(self):
        raise ArithmeticError("length")


class Holding:
    """It has an attribute by the name under which Tensors hold their arrays."""

    rate = 2.0
    array = "none"


@pytest.mark.parametrize("make", [lambda: Named(rate=2.0), Vague, Comparing, Holding])
def test_objects_may_say_anything_of_themselves(make):
    one = make()

    def captured(x):
        return x * one["rate"] if isinstance(one, dict) else x * one.rate

    def given(x, other):
        return x * (0.0 if other is None else 2.0)

    def shown(x):
        str([one])
        return 2.0 * x

    for call in (
        lambda: gs.grad(captured)(3.0),
        lambda: gs.grad(given)(3.0, one),
        lambda: gs.grad(shown)(3.0),
        lambda: gs.jvp(shown, (3.0,), (1.0,))[1],
    ):
        assert call() == 2.0
    leaf = gs.tensor(3.0, requires_grad=True)
    gs.differentiable(captured)(leaf).backward()
    assert leaf.grad.item() == 2.0


def test_an_empty_argument_may_be_read_on_a_path_that_is_not_taken():
    def either(x, y, i):
        n = len(x)
        return x[i] ** 2 if i < n else y[i - n]

    def both(x, y, count):
        total = 0.0
        for k in range(count):
            total = total + (x[k] ** 2 if k < len(x) else y[k - len(x)])
        return total

    np.testing.assert_array_equal(gs.grad(either)(np.array([1.0, 2.0]), (), 1), [0.0, 4.0])
    assert gs.grad(both)((1.0, 2.0), (), 2) == (2.0, 4.0)
    with pytest.raises((IndexError, GradscribeError)) as caught:
        gs.grad(either)(np.array([1.0, 2.0]), (), 2)
    assert not isinstance(caught.value, InternalError)


@pytest.mark.parametrize("transform", [adjoint, tangent])
def test_types_that_do_not_fit_in_a_derivative_are_refused_where_the_operation_stands(
    monkeypatch, transform
):
    def misfit(*args):
        raise TypeRuleError("axes of 3 and 2 do not broadcast")

    monkeypatch.setattr(adjoint, "apply_rule", misfit)
    monkeypatch.setattr(tangent.Tangent, "_rule", misfit)
    with pytest.raises(UnsupportedError) as caught:
        if transform is adjoint:
            gs.grad(program)(X)
        else:
            gs.jvp(program, (X,), (X,))
    assert caught.value.what == "axes of 3 and 2 do not broadcast"
    assert caught.value.location.statement.strip() in ("y = x * x", "return np.sum(y)")
