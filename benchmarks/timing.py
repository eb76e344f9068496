"""Fair times in one process: interleaved runs, medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

Clock = Callable[[], float]


def seconds_per_call(
    call: Callable[[], Any], clock: Clock = time.perf_counter, at_least: float = 0.005
) -> float:
    """The time of one call, of as many in a row as the clock needs."""
    count = 1
    while True:
        start = clock()
        for _ in range(count):
            call()
        elapsed = clock() - start
        if elapsed >= at_least:
            return elapsed / count
        count *= max(2, int(1.2 * at_least / max(elapsed, 1e-9)))


def interleaved(
    calls: dict[str, Callable[[], Any]], rounds: int = 15, clock: Clock = time.perf_counter
) -> dict[str, float]:
    """The median time of one run of each call; the calls take turns, so that what disturbs the
    machine disturbs all of them."""
    for call in calls.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(seconds_per_call(call, clock))
    return {name: statistics.median(values) for name, values in times.items()}


def milliseconds(call: Callable[[], Any], rounds: int = 15) -> float:
    """The median time of a call that is slow enough to be timed alone."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3
