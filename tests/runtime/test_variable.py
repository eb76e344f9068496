"""The legacy spelling: Variable, volatile, grad_variables."""

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


def test_a_variable_of_data():
    var_ex = Variable(gs.randn((4, 3)))
    assert (var_ex.grad, var_ex.grad_fn, tuple(var_ex.data.shape)) == (None, None, (4, 3))


def test_volatile_comes_before_requires_grad():
    """`volatile` itself is no longer contagious, as in PyTorch since 0.4; `no_grad` is."""
    with pytest.warns(DeprecationWarning):
        b = Variable(gs.ones(1), requires_grad=True, volatile=True)
    assert not (b * 2).requires_grad
    w = Variable(gs.ones(1), requires_grad=True)
    with gs.no_grad():
        assert not ((w * b) + w * 2).requires_grad


def test_volatile_has_given_way_to_no_grad():
    with pytest.warns(DeprecationWarning):
        v = Variable(gs.ones(1), volatile=True)
    assert not (v * 2).requires_grad
    with gs.no_grad():
        assert not (Variable(gs.ones(1), requires_grad=True) * 2).requires_grad


def test_grad_variables_weigh_the_elements():
    v = Variable(gs.Tensor([1.0, 2.0]), requires_grad=True)
    with pytest.warns(DeprecationWarning):
        (v * v).backward(grad_variables=gs.Tensor([1.0, 10.0]))
    assert v.grad.data.tolist() == [2, 40]


def test_gradients_of_a_variable_accumulate_and_are_cleared():
    v = Variable(gs.ones(2), requires_grad=True)
    for expected in (2.0, 4.0):
        (v * 2).sum().backward()
        assert v.grad.tolist() == [expected] * 2
    v.grad.data.zero_()
    assert v.grad.tolist() == [0, 0]
    with pytest.raises(AttributeError):  # zero_ is its name
        v.grad.data.zeros_()


def test_a_variable_follows_its_gradient():
    var_ex = Variable(gs.randn((4, 3)))
    assert not var_ex.requires_grad
    w = Variable(gs.ones(1, 1), requires_grad=True)
    y = w * 3
    y.backward(gs.ones(1, 1))
    w.data.sub_(w.grad.data * 0.1)
    w.grad.data.zero_()
    assert w.tolist() == [[pytest.approx(0.7)]]
