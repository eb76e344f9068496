"""Settings of the whole suite."""

import itertools

from hypothesis import HealthCheck, settings

from tests.collector import collect_seldom

settings.register_profile(
    "test", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("test")

_TESTS = itertools.count()


def pytest_runtest_setup() -> None:
    if next(_TESTS) % 100 == 0:
        collect_seldom()
