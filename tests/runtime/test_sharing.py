"""Tensors of arrays and buffers share their memory, or copy where they are told to."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike

BYTES = bytearray(range(8))


def buffer(count=-1, offset=0, length=8):
    return torchlike.frombuffer(bytearray(length), dtype=gs.int32, count=count, offset=offset)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: torchlike.asarray([1, 2], copy=False),
            "can't alias arbitrary sequence into a tensor.",
        ),
        (
            lambda: torchlike.asarray(np.ones(2), dtype=gs.float32, copy=False),
            "can't alias tensor with dtype 'Double' into dtype 'Float'.",
        ),
        (
            lambda: torchlike.frombuffer([1], dtype=gs.int32),
            "object does not implement Python buffer protocol.",
        ),
        (lambda: buffer(length=0), "both buffer length (0) and count (-1) must not be 0"),
        (lambda: buffer(count=0), "both buffer length (8) and count (0) must not be 0"),
        (
            lambda: buffer(offset=8),
            "offset (8 bytes) must be non-negative and no greater than buffer length (8 bytes) "
            "minus 1",
        ),
        (
            lambda: buffer(count=2, offset=4),
            "requested buffer length (2 * 4 bytes) after offset (4 bytes) must not be greater than "
            "actual buffer length (8 bytes)",
        ),
        (
            lambda: buffer(offset=1),
            "buffer length (7 bytes) after offset (1 bytes) must be a multiple of element size (4)",
        ),
    ],
)
def test_memory_that_cannot_be_shared_is_refused_in_pytorchs_words(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(("copy", "seen"), [(None, 5.0), (False, 5.0), (True, 0.0)])
def test_asarray_shares_an_arrays_memory_unless_it_is_to_copy(copy, seen):
    array = np.zeros(2)
    tensor = torchlike.asarray(array, copy=copy)
    array[0] = 5.0
    assert tensor[0].item() == seen


def test_asarray_reads_buffers():
    assert torchlike.asarray(BYTES, dtype=gs.uint8).tolist() == list(range(8))
    assert torchlike.asarray(BYTES, dtype=gs.int64).tolist() == [0x0706050403020100]


@pytest.mark.parametrize(
    ("options", "name"),
    [({}, "MulBackward0"), ({"copy": True}, "CloneBackward0"), ({"requires_grad": False}, None)],
)
def test_asarray_of_a_tensor_keeps_the_graph_unless_it_is_cut(options, name):
    product = gs.ones(2, requires_grad=True) * 2
    node = torchlike.asarray(product, **options).grad_fn
    assert (node and node.name()) == name


def test_asarray_makes_leaves_that_require_gradients():
    assert torchlike.asarray([1.0, 2.0], requires_grad=True).requires_grad
    assert torchlike.asarray(np.ones(2), requires_grad=True).is_leaf


def test_new_tensors_take_the_layout_and_memory_that_there_are():
    assert gs.zeros(2, layout=torchlike.strided, pin_memory=False).tolist() == [0, 0]
    assert gs.empty(2, 3, 4, 5, memory_format=torchlike.channels_last).stride() == (60, 1, 15, 3)
    with pytest.raises(RuntimeError, match="Need to provide pin_memory allocator"):
        gs.ones(2, pin_memory=True)


@pytest.mark.parametrize(
    "fill", [lambda out: gs.arange(6, out=out), lambda out: gs.linspace(0, 5, 6, out=out)]
)
def test_numbers_in_order_fill_an_out_of_any_shape(fill):
    whole = gs.zeros(3, 3)
    fill(whole[1:])
    assert whole.tolist() == [[0, 0, 0], [0, 1, 2], [3, 4, 5]]


def test_the_memory_of_a_capsule_may_be_written_to():
    given = gs.zeros(3)
    shared = gs.utils.dlpack.from_dlpack(gs.utils.dlpack.to_dlpack(given))
    shared[0] = 5.0
    assert given.tolist() == [5, 0, 0]
    del given
    assert shared.tolist() == [5, 0, 0]
    with pytest.raises(TypeError, match="stream must be ``int`` or ``none``"):
        shared.__dlpack__(stream=object())


@pytest.mark.parametrize(("copy", "shared"), [(None, True), (False, True), (True, False)])
def test_from_dlpack_shares_memory_unless_a_copy_is_wanted(copy, shared):
    array = np.zeros(2)
    gs.from_dlpack(array, device="cpu", copy=copy)[0] = 1
    assert (array[0] == 1) == shared
    with pytest.raises(ValueError, match="device and copy kwargs not supported"):
        gs.from_dlpack(array.__dlpack__(), copy=True)


def test_dlpack_both_ways():
    x = gs.ones(3)
    assert np.from_dlpack(x).tolist() == [1, 1, 1]
    shared = gs.from_dlpack(np.arange(3.0))
    assert shared.tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="require gradient"):
        np.from_dlpack(gs.ones(3, requires_grad=True))
    assert list(reversed(gs.arange(3)).tolist()) == [2, 1, 0]
