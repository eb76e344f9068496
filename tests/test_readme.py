"""What the README and the documentation show is what happens."""

from __future__ import annotations

import doctest
import pathlib
import re
import subprocess
import sys

import pytest

from tools import reference

ROOT = pathlib.Path(__file__).parent.parent


GENERATED = {"docs/functions.md", "docs/operations.md", "docs/refusals.md"}
DESIGN = "docs/design.md"
PAGES = ["README.md", *(str(page.relative_to(ROOT)) for page in sorted(ROOT.glob("docs/*.md")))]


@pytest.mark.parametrize("page", [page for page in PAGES if page not in GENERATED | {DESIGN}])
def test_examples_print_what_the_page_shows(page: str) -> None:
    results = doctest.testfile(str(ROOT / page), module_relative=False)
    assert results.attempted > 5
    assert not results.failed


def test_the_page_of_operations_says_what_the_rows_do() -> None:
    assert (ROOT / "docs/operations.md").read_text() == reference.page()


def test_files_that_the_design_names_are_there() -> None:
    named = re.findall(r"`((?:\w+/)+\w+\.py|(?:\w+/)+)`", (ROOT / DESIGN).read_text())
    assert len(named) > 10
    for file in named:
        assert (ROOT / "src/gradscribe" / file).exists() or (ROOT / file).exists(), file


def test_demo_ends_as_the_readme_shows(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("matplotlib")
    (shown,) = re.findall(r"```text\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    command = [sys.executable, "-m", "examples.demo", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown in done.stdout
    assert (tmp_path / "linear_regression.png").stat().st_size > 10_000
