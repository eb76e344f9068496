"""Memory formats: `channels_last` and its kin."""

import pytest

import gradscribe as gs
from gradscribe import torchlike


def sample():
    return gs.arange(120.0).reshape(2, 3, 4, 5)


def test_channels_last_changes_steps_and_no_values():
    x = sample()
    for y in (
        x.to(memory_format=torchlike.channels_last),
        x.contiguous(memory_format=torchlike.channels_last),
        x.clone(memory_format=torchlike.channels_last),
    ):
        assert y.stride() == (60, 1, 15, 3)
        assert y.tolist() == x.tolist()
        assert y.is_contiguous(memory_format=torchlike.channels_last)
        assert not y.is_contiguous()
        assert y.contiguous().stride() == (60, 20, 5, 1)
    volume = gs.ones(1, 2, 3, 4, 5).contiguous(memory_format=torchlike.channels_last_3d)
    assert volume.stride() == (120, 1, 40, 10, 2)
    assert repr(torchlike.channels_last) == "torch.channels_last"


def test_what_is_in_a_format_is_not_copied():
    x = sample()
    assert x.contiguous() is x.to(memory_format=torchlike.contiguous_format) is x
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        gs.ones(3).contiguous(memory_format=torchlike.channels_last)


def test_gradients_flow_through_formats_and_lie_as_their_leaves():
    x = sample().requires_grad_()
    y = x.contiguous(memory_format=torchlike.channels_last)
    (y * y).sum().backward()
    assert x.grad.tolist() == (2 * sample()).tolist()
    leaf = sample().to(memory_format=torchlike.channels_last).requires_grad_()
    (leaf * sample()).sum().backward()
    assert leaf.grad.stride() == leaf.stride()


def test_a_copy_keeps_the_order_in_memory():
    assert gs.ones(2, 3).t().clone().stride() == (1, 3)
    assert gs.ones(2, 3).t().clone(memory_format=torchlike.contiguous_format).stride() == (2, 1)
    assert gs.ones(1, 3).expand(2, 3).clone().stride() == (3, 1)
