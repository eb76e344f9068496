"""Calls on trial, which tell the types of results: compiled code trusts what it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.cluster import hierarchy

import gradscribe as gs

POINTS = np.array([[0.0, 1.0, 9.0], [1.5, 0.0, 2.0], [9.0, 2.5, 0.0]])


def heights(x):
    return x * np.sum(hierarchy.cophenet(hierarchy.linkage(np.array(POINTS))))


def test_what_another_call_gave_is_given_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    compiled = hierarchy._hierarchy.cophenetic_distances

    def noted(linkage: Any, distances: Any, count: Any) -> Any:
        given.append(np.array(linkage))
        return compiled(linkage, distances, count)

    monkeypatch.setattr(hierarchy._hierarchy, "cophenetic_distances", noted)
    assert gs.value_and_grad(heights)(2.0)[0] == heights(2.0)
    assert len(given) > 2  # on trial, when it runs, and here
    for linkage in given:  # places of clusters stand in it
        assert np.all(linkage[:, :2] >= 0)
        assert np.all(linkage[:, :2] < 2 * len(linkage) + 1)
