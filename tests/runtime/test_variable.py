"""The legacy spelling: Variable, volatile."""

import pytest

from gradscribe.autograd import Variable
from gradscribe.runtime import namespace as gs


def test_a_variable_is_a_tensor():
    v = Variable(gs.ones(2), requires_grad=True)
    assert isinstance(v, gs.Tensor)
    assert isinstance(v, Variable)
    assert v.requires_grad
    assert v.grad_fn is None
    (v * 2).sum().backward()
    assert v.grad.data.tolist() == [2, 2]


def test_a_variable_shares_the_memory_of_its_tensor():
    x = gs.zeros(2)
    Variable(x).data.fill_(1)
    assert x.tolist() == [1, 1]


def test_volatile_is_deprecated_and_requires_no_gradient():
    with pytest.warns(DeprecationWarning, match="volatile"):
        v = Variable(gs.ones(1), requires_grad=True, volatile=True)
    assert not (v * 2).requires_grad
