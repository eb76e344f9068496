"""`inference_mode`: Tensors that can never take part in differentiation."""

import contextlib

import pytest

import gradscribe as gs
from gradscribe import torchlike


@pytest.fixture
def inferred():
    with gs.inference_mode():
        return gs.ones(3)


def test_all_that_is_made_inside_is_an_inference_tensor():
    x = gs.ones(3, requires_grad=True)
    with gs.inference_mode():
        assert torchlike.is_inference_mode_enabled()
        assert (x * 2).is_inference()
        assert gs.zeros(2).is_inference()
        assert not (x * 2).requires_grad
        assert not x.is_inference()
        assert not x.view(3).is_inference()
    assert not torchlike.is_inference_mode_enabled()


def test_what_is_made_of_it_outside_is_none(inferred):
    assert not inferred.clone().is_inference()
    assert not (inferred + 1).is_inference()
    assert inferred.view(3).is_inference()
    assert inferred[0].is_inference()


def test_it_cannot_be_saved_for_backward(inferred):
    x = gs.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * inferred
    assert (x + inferred).requires_grad
    assert (x * inferred.clone()).requires_grad


def test_it_cannot_be_changed_outside(inferred):
    message = "Inplace update to inference tensor outside InferenceMode is not allowed"
    first = inferred[0]
    for change in (lambda: inferred.add_(1), lambda: inferred.zero_(), lambda: first.fill_(2)):
        with pytest.raises(RuntimeError, match=message):
            change()
    assert inferred.tolist() == [1, 1, 1]
    with gs.inference_mode():
        inferred.add_(1)
    assert inferred.tolist() == [2, 2, 2]


def test_it_has_no_version_and_requires_no_gradient(inferred):
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        inferred._version
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor"):
        inferred.requires_grad_()


def test_it_is_a_decorator_and_can_be_turned_off():
    @gs.inference_mode()
    def double(x):
        return x * 2

    assert double(gs.ones(1)).is_inference()
    with gs.inference_mode(), gs.inference_mode(False):
        assert not torchlike.is_inference_mode_enabled()
        assert (gs.ones(1, requires_grad=True) * 2).requires_grad


def test_a_leaf_that_is_made_inside_may_require_a_gradient():
    with gs.inference_mode():
        made = gs.ones(2, requires_grad=True)
        told = gs.ones(2).requires_grad_()
        for leaf in (made, told):
            assert (leaf.requires_grad, leaf.is_inference()) == (True, True)
            assert not (leaf * leaf).requires_grad
            assert not leaf.view(2).requires_grad
    x = gs.ones(2, requires_grad=True)
    (made + x).sum().backward()
    assert made.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * made


def test_operations_on_inference_tensors_alone_are_not_recorded():
    with gs.inference_mode():
        leaf = gs.ones(2, requires_grad=True)
    out = leaf * leaf
    assert (out.is_inference(), out.requires_grad, out.is_leaf) == (False, False, True)
    view = leaf.view(2, 1)
    assert (view.is_inference(), view.requires_grad, view._is_view()) == (True, False, False)


def test_a_view_that_was_made_inside_may_not_be_changed_outside():
    x = gs.ones(2, requires_grad=True).clone()
    with gs.inference_mode():
        view = x[:1]
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being"):
        view.add_(1)


def enabled_for_good():
    gs.set_grad_enabled(True)
    return contextlib.nullcontext()


@pytest.mark.parametrize("enable", [gs.enable_grad, enabled_for_good])
def test_nothing_is_recorded_within_however_that_is_asked_for(enable):
    q = gs.ones(2, requires_grad=True)
    with gs.inference_mode(), enable():
        results = [q * 2, gs.cat([q, q]), q.clone(), gs.ones(2).mul_(q)]
        q.add_(1)
        assert [(r.requires_grad, r.is_inference()) for r in results] == [(False, True)] * 4
        assert (gs.is_grad_enabled(), torchlike.is_inference_mode_enabled()) == (True, True)
        with gs.no_grad():
            assert not gs.is_grad_enabled()
        assert gs.is_grad_enabled()
        with gs.inference_mode(False):
            assert (q * 2).requires_grad
    assert (gs.is_grad_enabled(), torchlike.is_inference_mode_enabled()) == (True, False)
    assert (q * 2).requires_grad
    assert q.tolist() == [2.0, 2.0]
