"""Plant each fault of `faults` in a copy of the project, and see whether `make test` finds it.

`python -m tests.mutants` plants all of them (an hour on two cores), `python -m tests.mutants 7 12`
two of them. First of all the suite must pass without any. Each is looked for in the part of
`make test` that mirrors its file, and in all of it where that part passes. What is printed is the
first test that fails; of a fault that only rows of long tables show, it may be none the next time.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from tests.mutants.faults import FAULTS, Fault

ROOT = pathlib.Path(__file__).resolve().parents[2]
WANTED = 0.95
"""The share of the faults that have to be found."""
LIMIT = 1200
"""Seconds for a run of the suite; a fault may be that a loop does not end."""
NEAREST = {
    "transforms": "tests/transforms tests/codegen tests/properties tests/programs",
    "compiler": "tests/test_compiler.py tests/test_redefinition.py",
    "api": "tests/test_api.py tests/test_differentiable.py tests/test_jacobians.py",
}
"""The tests that are asked first, by the package with the fault: where no folder mirrors it."""


def planted(fault: Fault, copy: pathlib.Path) -> tuple[pathlib.Path, str]:
    """Plant a fault; the file, and the text that it had."""
    path = copy / "src" / "gradscribe" / fault.path
    text = path.read_text()
    if text.count(fault.before) != 1:
        raise ValueError(f"{fault.path} does not have this text once: {fault.before!r}")
    path.write_text(text.replace(fault.before, fault.after))
    return path, text


def first_failure(copy: pathlib.Path, part: str = "") -> str:
    """The first test of a part, or of all, that fails in the copy; "" where they pass."""
    try:
        done = _run(copy, part)
    except subprocess.TimeoutExpired:
        return f"it did not end in {LIMIT} s"
    if done.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if failed is None:
        raise RuntimeError(f"the suite did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return failed[1]


def _run(copy: pathlib.Path, part: str) -> subprocess.CompletedProcess[str]:
    selection = [f"FILE=-n auto --dist worksteal --sample 1 {part}"] if part else []
    return subprocess.run(
        ["make", "-so", ROOT / ".venv/.installed", "test", f"VENV={ROOT / '.venv'}", *selection],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy / "src"), "PYTEST_ADDOPTS": "-x --tb=no"},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


def search(fault: Fault, copy: pathlib.Path) -> str:
    """The first test that fails, of those nearest to the fault, or of all."""
    package = fault.path.split("/")[0]
    return first_failure(copy, NEAREST.get(package, f"tests/{package}")) or first_failure(copy)


def main() -> int:
    parser = argparse.ArgumentParser(description="Plant faults, and see which are found.")
    everything = range(1, len(FAULTS) + 1)
    parser.add_argument("numbers", type=int, nargs="*", metavar="NUMBER", help="of faults, from 1")
    numbers = parser.parse_args().numbers or list(everything)
    if strange := set(numbers).difference(everything):
        parser.error(f"there are faults 1 to {len(FAULTS)}, and not {sorted(strange)}")
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "build", "__pycache__"))
        if failure := first_failure(copy):
            sys.exit(f"without any fault, {failure} fails")
        for number in numbers:
            fault, start = FAULTS[number - 1], time.monotonic()
            path, text = planted(fault, copy)
            failure = search(fault, copy)
            path.write_text(text)
            found += bool(failure)
            what = f"{fault.kind}, {fault.path} ({time.monotonic() - start:.0f} s)"
            print(f"{number:2d} {what}\n   {failure or 'NOT FOUND'}", flush=True)
    print(f"{found} of {len(numbers)} faults were found")
    return 0 if found >= WANTED * len(numbers) else 1


if __name__ == "__main__":
    sys.exit(main())
