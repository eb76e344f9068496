"""The garbage collector while a function is compiled."""

import gc

import pytest

import gradscribe as gs


def test_the_collector_runs_again_after_compiling():
    assert gc.isenabled()
    assert gs.grad(lambda x: x * x)(3.0) == 6.0
    assert gc.isenabled()
    with pytest.raises(gs.errors.UnsupportedError):
        gs.grad(lambda x: (yield x))(3.0)
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        assert gs.grad(lambda x: x * x + 1)(3.0) == 6.0
        assert not gc.isenabled()
    finally:
        gc.enable()
