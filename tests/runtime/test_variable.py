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


def test_volatile_is_always_false():
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert gs.ones(1).volatile is False
    with pytest.warns(UserWarning, match="no_grad"):
        gs.ones(1).volatile = True


def test_callbacks_are_called_when_the_backward_is_done():
    queue = Variable._execution_engine.queue_callback
    done = []
    x = gs.ones(1, requires_grad=True)
    x.register_hook(lambda g: queue(lambda: (done.append("first"), queue(lambda: done.append(2)))))
    (x * 2).backward()
    assert done == ["first", 2]
    with pytest.raises(RuntimeError, match="only be installed during backward pass"):
        queue(print)


def test_variable_is_imported_from_where_old_code_finds_it():
    from gradscribe.autograd import variable

    assert variable.Variable is Variable
