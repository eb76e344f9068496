"""Modes are of the context that they were entered in, as `no_grad` is."""

from __future__ import annotations

import contextlib
import contextvars
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.runtime.graph.modes import MODES


def anomalies() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gs.autograd.detect_anomaly()


def is_detecting() -> bool:
    x = gs.tensor([1.0], requires_grad=True)
    return "traceback_" in (x * 2).grad_fn.metadata


def is_dual() -> bool:
    try:
        with gs.autograd.forward_ad.dual_level():
            return False
    except RuntimeError:
        return True


def is_inference() -> bool:
    return torchlike.is_inference_mode_enabled() or gs.tensor([1.0]).is_inference()


def is_allowed() -> bool:
    x = gs.tensor([2.0], requires_grad=True)
    y = x * 1
    out = y * y
    y.add_(1)
    try:
        out.backward()
    except RuntimeError:
        return False
    return True


WAYS: dict[str, tuple[Callable[[], Any], Callable[[], bool]]] = {
    "anomalies": (anomalies, is_detecting),
    "inference": (gs.inference_mode, is_inference),
    "dual level": (gs.autograd.forward_ad.dual_level, is_dual),
    "mutation": (gs.autograd.graph.allow_mutation_on_saved_tensors, is_allowed),
}


def elsewhere(function: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("way", WAYS)
def test_a_mode_is_on_in_its_own_thread(way: str) -> None:
    mode, is_on = WAYS[way]
    assert not is_on()
    with mode():
        assert is_on()
        assert not elsewhere(is_on)
    assert not is_on()
    assert not MODES


@pytest.mark.parametrize("way", WAYS)
def test_a_mode_of_another_thread_is_not_on_here(way: str) -> None:
    mode, is_on = WAYS[way]
    entered, done = threading.Event(), threading.Event()

    def run() -> None:
        with mode():
            entered.set()
            done.wait()

    thread = threading.Thread(target=run)
    thread.start()
    entered.wait()
    try:
        assert MODES
        assert not is_on()
    finally:
        done.set()
        thread.join()
    assert not MODES


def test_a_plain_call_is_for_the_rest_of_the_context() -> None:
    def run() -> bool:
        gs.autograd.set_detect_anomaly(True)
        return is_detecting()

    context = contextvars.copy_context()
    try:
        assert context.run(run)
        assert not is_detecting()
        assert context.run(is_detecting)
    finally:
        context.run(gs.autograd.set_detect_anomaly, False)
    assert not MODES


def test_modes_in_each_other_end_in_any_order() -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(anomalies())
        with gs.autograd.graph.allow_mutation_on_saved_tensors():
            stack.close()
            assert not is_detecting()
            assert is_allowed()
    assert not MODES


def test_hooks_pack_what_is_saved_in_their_thread() -> None:
    packed: list[Any] = []

    def pack(t: Any) -> Any:
        packed.append(t)
        return t

    def saves() -> None:
        gs.exp(gs.tensor([2.0], requires_grad=True))

    with gs.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        elsewhere(saves)
        assert not packed
        saves()
        assert packed
