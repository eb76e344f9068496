"""Copies and pickles: of what the decorators and transforms return, and of Tensors."""

import copy
import pickle

import numpy as np
import pytest

import gradscribe as gs


@gs.differentiable
def double(x):
    return 2 * x


@gs.primitive
def triple(x):
    return 3 * x


def square(x):
    return x * x


class Scale:
    def __init__(self, factor):
        self.factor = factor

    @gs.differentiable
    def __call__(self, x):
        return x * self.factor

    @gs.differentiable
    def apply(self, x):
        return x * self.factor


@pytest.mark.parametrize("function", [double, triple, gs.grad(square), gs.hessian(square)])
def test_functions_are_copied_as_themselves(function):
    assert copy.copy(function) is function
    assert copy.deepcopy([function])[0] is function


@pytest.mark.parametrize("function", [double, triple])
def test_functions_are_pickled_by_their_names(function):
    assert pickle.loads(pickle.dumps(function)) is function


def test_a_function_that_is_not_decorated_where_it_is_defined_is_pickled_with_what_was_asked():
    function = pickle.loads(pickle.dumps(gs.differentiable(square, argnums=0)))
    x = gs.tensor(3.0, requires_grad=True)
    function(x).backward()
    assert x.grad.item() == 6


def test_a_method_is_copied_with_its_object():
    scale = Scale(gs.tensor(2.0, requires_grad=True))
    copied = copy.deepcopy({"object": scale, "method": scale.apply})
    with gs.no_grad():
        copied["object"].factor.fill_(5.0)
    assert copied["method"](gs.tensor(1.0)).item() == 5
    assert scale.apply(gs.tensor(1.0)).item() == 2
    assert pickle.loads(pickle.dumps(scale.apply))(np.ones(1)).item() == 2


@pytest.mark.parametrize("function", [gs.differentiable(lambda x: x), gs.grad(square)])
def test_what_has_no_name_of_its_own_is_not_pickled(function):
    with pytest.raises(pickle.PicklingError, match="is something else, and functions are pickled"):
        pickle.dumps(function)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, 1],
        lambda x: x.t(),
        lambda x: x.expand(2, 3, 4),
        lambda x: x[:, ::2],
        lambda x: x.unfold(1, 2, 1),
        lambda x: x[1:1],
    ],
)
def test_a_pickled_view_stands_in_memory_as_before(view):
    tensor = view(gs.arange(12.0).reshape(3, 4))
    found = pickle.loads(pickle.dumps(tensor))
    assert found.tolist() == tensor.tolist()
    assert found.stride() == tensor.stride()


def test_pickling_tells_of_hooks_that_are_left_out():
    x = gs.ones(2, requires_grad=True)
    x.register_hook(lambda gradient: gradient)
    with pytest.warns(UserWarning, match="on tensor will not be serialized"):
        pickle.dumps(x)


def test_a_hook_may_be_left_out_without_a_word(recwarn):
    x = gs.ones(2, requires_grad=True)
    x.register_hook(gs.utils.hooks.unserializable_hook(lambda gradient: gradient))
    assert pickle.loads(pickle.dumps(x)).requires_grad
    assert not recwarn
