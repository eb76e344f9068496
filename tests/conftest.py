"""Settings of the whole suite."""

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.collector import collect_seldom

settings.register_profile(
    "test", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("test")

_TESTS = itertools.count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of each file, the tests of one row of a table run one after the other: what is compiled
    for the row is then still there."""
    rows: dict[tuple[Path, str], int] = {}

    def place(item: pytest.Item) -> int:
        call = getattr(item, "callspec", None)
        return rows.setdefault((item.path, call.id if call else item.nodeid), len(rows))

    items.sort(key=place)


def pytest_runtest_setup() -> None:
    if next(_TESTS) % 100 == 0:
        collect_seldom()
