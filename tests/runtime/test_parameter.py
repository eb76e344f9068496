"""`torchlike.nn.Parameter`."""

import copy
import pickle

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.torchlike.nn import Parameter


def test_a_parameter_is_a_leaf_of_the_memory_that_it_is_given():
    data = gs.ones(2)
    p = Parameter(data)
    assert repr(p) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert isinstance(p, gs.Tensor)
    assert p.is_leaf
    data[0] = 5
    assert (p.tolist(), p._version) == ([5, 1], 1)
    assert not Parameter(data, requires_grad=False).requires_grad
    assert Parameter().shape == (0,)


def test_what_is_computed_of_a_parameter_is_a_tensor():
    p = Parameter(gs.tensor([1.0, 2.0]))
    for result in (p * 2, p[0], p.detach(), p.data, p.clone(), gs.zeros_like(p)):
        assert type(result) is gs.Tensor
    loss = gs.differentiable(lambda x: np.sum(x**2))(p)
    loss.backward()
    assert p.grad.tolist() == [2, 4]
    with gs.no_grad():
        p -= 0.5 * p.grad
    assert type(p) is Parameter
    assert p.tolist() == [0, 0]


def test_copies_of_a_parameter_are_parameters():
    p = Parameter(gs.ones(2))
    p.note = "kept"
    for twin in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert type(twin) is Parameter
        assert twin.requires_grad
        twin.data[0] = 3
    assert p.tolist() == [1, 1]


def test_integers_are_no_parameter():
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype"):
        Parameter(gs.ones(2, dtype=gs.int64))
