"""Strings of which the program learns at run time which letters they have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import agrees, check

W = np.array([0.7, 1.3, 0.9])


def letters_in_a_while_loop(w: Any) -> Any:
    bases, k, total = "ACGT", 0, 0.0
    while k < len(bases):
        if bases[k] == "G":
            total = total + w[0]
        elif bases[k] in "AC":
            total = total + w[1] * w[2]
        k += 1
    return total


def traced_back(w: Any) -> Any:
    first, second, i, j = "GAT", "GTT", 3, 3
    shown, score = "", 0.0
    while i > 0 and j > 0:
        if first[i - 1] == second[j - 1]:
            score = score + w[0]
            shown = first[i - 1] + shown
        else:
            score = score - w[1]
            shown = "-" + shown
        i, j = i - 1, j - 1
    return score * len(shown)


def states_by_name(w: Any) -> Any:
    state, after, total = "A", "BCA", 0.0
    for i in range(5):
        if state == "A":
            total = total + w[0]
        elif state == "B":
            total = total * w[1]
        else:
            total = total - w[2]
        state = after[i % 3]
    return total


def slices_and_methods(w: Any) -> Any:
    bases, i, total = "GATTACA", 0, 0.0
    while i < len(bases) - 2:
        codon = bases[i : i + 3]
        if codon == "GAT" or codon.lower().startswith("ac"):
            total = total + w[0] ** 2
        total = total + w[1] * codon.count("A") * (ord(bases[i]) - ord("A"))
        i += 3
    return total


def keys_of_a_dict(w: Any) -> Any:
    weights = {"AA": 1.0, "CC": 2.0}
    bases, i, total = "ACA", 2, 0.0
    while i >= 0:
        total = total + w[0] * weights.get(bases[i] + bases[i], 0.5)
        i -= 1
    return total


def letters_of_a_row(w: Any) -> Any:
    rows, k, total = ["AC", "GT"], 1, 0.0
    while k >= 0:
        for letter in rows[k]:
            if letter in ("A", "T"):
                total = total + w[k]
        k -= 1
    return total


FUNCTIONS = [
    letters_in_a_while_loop,
    traced_back,
    states_by_name,
    slices_and_methods,
    keys_of_a_dict,
    letters_of_a_row,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_strings_decide_at_run_time(function: Any) -> None:
    check(function, W)


def chain(w: Any, letters: str) -> Any:
    moves, i, total = [], len(letters) - 1, 0.0
    while i >= 0:
        if letters[i] == "H":
            total = total + w[i % 3] ** 2
            moves.append("up")
        else:
            moves.append("down")
        i -= 1
    return total * moves.count("up")


def test_strings_are_arguments() -> None:
    agrees(chain, W, "HPPHH")


def layers(p: Any) -> Any:
    x = np.ones(2)
    for name in sorted(p):
        if name.startswith("w"):
            x = np.tanh(x @ p[name] + p["b" + name[1:]])
    return x


def test_a_part_of_a_known_string_is_known() -> None:
    p = {"w0": np.eye(2), "b0": np.ones(2), "w1": np.ones((2, 3)), "b1": np.zeros(3)}
    gs.testing.check_grad(layers, p)
