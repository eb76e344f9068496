"""What is looked up in modules, and among the built-in names, is what each call finds there."""

from __future__ import annotations

import types

import numpy as np
import pytest

import gradscribe as gs

X = np.array([1.0, 2.0])
COMPILED = pytest.mark.parametrize("compile", [True, "auto", False])


@COMPILED
def test_the_getattr_of_a_module_is_asked_for_what_is_missing(compile, monkeypatch):
    asked = []
    lazy = types.ModuleType("lazy")
    lazy.__getattr__ = lambda name: asked.append(name) or 2.0

    def program(x):
        return x[0] * lazy.rate

    run = gs.value_and_grad(program, compile=compile)
    assert run(X)[0] == 2.0
    lazy.rate = 5.0
    assert run(X)[0] == 5.0
    del lazy.rate
    assert run(X)[0] == 2.0
    assert {*asked} == {"rate"}
