"""Settings of the whole suite."""

import itertools
import os
import shutil
import sys
import tempfile
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import collector
from tests.sampling import RUN, is_one_in

# Reading 90,000 lines anew takes longer than most selections of tests; `make clean` removes this.
sys.dont_write_bytecode = False

collector.rest()
settings.register_profile(
    "test", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("test")

_TESTS = itertools.count()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--sample",
        type=int,
        default=0,
        metavar="THIN",
        help="check one slice of each long table: 1: all of these tests, 2: half of them, "
        "0: all tests of all rows (the default)",
    )
    parser.addoption(
        "--draw",
        type=int,
        metavar="NUMBER",
        help="the slices, and the generated programs, of the run that printed this number",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.option.sample < 0:
        raise pytest.UsageError("--sample takes 0 or more")
    drawn = getattr(config, "workerinput", {}).get("draw", config.option.draw)
    RUN.start(config.option.sample, drawn)
    if not hasattr(config, "workerinput"):
        _cache_compiled_code(config)


def _cache_compiled_code(config: pytest.Config) -> None:
    """In a folder of this run's, which the workers of xdist share."""
    folder = tempfile.mkdtemp(prefix="gradscribe-tests-")
    os.environ["GRADSCRIBE_CACHE_DIR"] = folder
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """The workers of xdist check the slices that the process which starts them has drawn."""
    node.workerinput["draw"] = RUN.draw


def pytest_report_header() -> str:
    return f"a sample; the same again: {_again()}" if RUN.thin else "everything"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if RUN.thin and terminalreporter.stats.get("failed"):
        terminalreporter.write_line(f"what failed, again: pytest --lf {_again()}")


def _again() -> str:
    return f"--sample {RUN.thin} --draw {RUN.draw}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of each file, the tests of one row of a table run one after the other: what is compiled
    for the row is then still there. A thin sample leaves rows out."""
    rows: dict[str, int] = {}

    def row(item: pytest.Item) -> str:
        call = getattr(item, "callspec", None)
        return f"{item.path.name}: {call.id}" if call else item.nodeid

    left_out = {item for item in items if not is_one_in(RUN.thin, row(item))}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: rows.setdefault(row(item), len(rows)))


def pytest_runtest_setup() -> None:
    number = next(_TESTS)
    if number % 5000 == 4999:
        collector.collect()
    elif number % 100 == 0:
        collector.rest()
