"""The legacy spelling: Variable, volatile, grad_variables."""

import gc

import numpy as np
import pytest

import gradscribe as api
from gradscribe.autograd import Function, Variable
from gradscribe.runtime import namespace as gs
from gradscribe.runtime.graph.modes import MODES


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


def volatile(data):
    with pytest.warns(DeprecationWarning, match=r"Use `with gs\.no_grad\(\):` instead"):
        return Variable(data, volatile=True)


def is_volatile(tensor):
    with pytest.warns(DeprecationWarning, match=r"Use `with gs\.no_grad\(\):` instead"):
        return tensor.volatile


class Product(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, d_out):
        a, b = ctx.saved_tensors
        return d_out * b, d_out * a


def set_item(w, v):
    t = w * 1
    t[0] = v[1]
    return t


def set_view(w, v):
    t = w * 1
    t.view(2, 1)[0] = v[0]
    return t


SPREADING = {
    "operator": lambda w, v: w * v,
    "reversed": lambda w, v: v * w,
    "in a list": lambda w, v: gs.stack([w, v]),
    "chain": lambda w, v: ((w * v).sum() * w).exp(),
    "view": lambda w, v: v.view(2, 1) * w,
    "element": lambda w, v: v[0] * w,
    "of several results": lambda w, v: gs.max(gs.stack([w, v]), 0)[0],
    "Function": Product.apply,
    "decorated": api.differentiable(lambda w, v: w * v + w),
    "decorated, of several results": lambda w, v: several(w, v)[1],
    "decorated, without gradient": lambda w, v: several(v, v)[0] * w,
    "NumPy": lambda w, v: np.multiply(w, v),
    "in place": lambda w, v: (w * 1).mul_(v),
    "an element that is set": set_item,
    "a view that is set": set_view,
    "copy": lambda w, v: v.clone() * w,
}


@api.differentiable
def several(w, v):
    return w * v, w + v


@pytest.mark.parametrize("how", SPREADING)
def test_volatile_spreads_to_all_that_is_computed_of_it(how):
    w, v = gs.tensor([1.0, 2.0], requires_grad=True), volatile(gs.ones(2))
    out = SPREADING[how](w, v)
    assert not out.requires_grad
    assert out.grad_fn is None
    assert is_volatile(out)
    assert not (out * w).requires_grad
    assert (w * 2).requires_grad
    assert not is_volatile(w)


def test_volatile_is_set_and_taken_back():
    w, v = gs.tensor([1.0, 2.0], requires_grad=True), gs.ones(2)
    assert not is_volatile(v)
    with pytest.warns(DeprecationWarning, match="no_grad"):
        v.volatile = True
    assert not (w * v).requires_grad
    with pytest.warns(DeprecationWarning, match="no_grad"):
        v.volatile = False
    assert (w * v).requires_grad


def test_nothing_looks_for_what_is_volatile_when_there_is_none():
    v = volatile(gs.ones(2))
    out = v * 2
    assert MODES
    del v, out
    gc.collect()
    assert not MODES


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
    with pytest.warns(DeprecationWarning):
        b = Variable(gs.ones(1), requires_grad=True, volatile=True)
    assert not (b * 2).requires_grad
    w = Variable(gs.ones(1), requires_grad=True)
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
