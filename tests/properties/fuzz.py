"""A long hunt: `python -m tests.properties.fuzz [programs]` checks generated programs.

Each batch is a run of hypothesis with a seed of its own, in a process of its own; what a
failing batch prints is the shrunk program, and its seed repeats it. Refusals are counted by
their messages: none is wrong, but each costs a user something.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import os
import re
import sys
import traceback
import warnings

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tqdm import tqdm

from gradscribe.errors import UnsupportedError
from tests import collector
from tests.properties.grammar.programs import KINDS, programs
from tests.properties.oracles import check

BATCH = 50


def batch(which: tuple[str, int]) -> tuple[collections.Counter[str], str]:
    """Check a batch (kind, number); how many programs went which way, and any failure."""
    kind, number = which
    outcomes: collections.Counter[str] = collections.Counter()

    @seed(number)
    @settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(kind), st.integers(0, 1000))
    def run(text: str, values: int) -> None:
        try:
            check(kind, text, values)
            outcomes["correct"] += 1
        except UnsupportedError as refusal:
            outcomes[f"refused: {_kind_of(refusal)}"] += 1
        except Exception as error:
            raise AssertionError(f"arguments of seed {values}:\n{text}") from error

    warnings.simplefilter("ignore")
    try:
        run()
    except Exception:
        return outcomes, f"{kind}, batch {number}:\n{traceback.format_exc()}"
    return outcomes, ""


def _kind_of(refusal: UnsupportedError) -> str:
    first = str(refusal).splitlines()[0]
    return re.sub(r"`[^`]*`|[a-z]+\d+", "`...`", first)[:90]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", type=int, nargs="?", default=50_000)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--first", type=int, default=0, help="number of the first batch")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    kinds = options.kind or list(KINDS)
    count = -(-options.programs // (BATCH * len(kinds)))
    outcomes: collections.Counter[str] = collections.Counter()
    failures = 0
    numbers = range(options.first, options.first + count)
    batches = [(k, n) for n in numbers for k in kinds]
    with (
        multiprocessing.Pool(options.processes, collector.rest, maxtasksperchild=20) as pool,
        tqdm(total=len(batches) * BATCH, unit="program") as progress,
    ):
        for found, report in pool.imap_unordered(batch, batches):
            outcomes += found
            progress.update(BATCH)
            if report:
                failures += 1
                progress.write(report)
    for outcome, times in outcomes.most_common():
        print(f"{times:8,d} {outcome}")
    print(f"{failures} failing batches")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
