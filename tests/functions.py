"""The page of all functions that have a derivative, from `gs.supported()`.

`python -m tests.functions` writes the page `docs/functions.md` anew; with CPython 3.13, to list all
that its `math` has.
"""

from __future__ import annotations

import itertools
import pathlib
import sys
import textwrap
from collections.abc import Sequence

import gradscribe as gs
from gradscribe.coverage import Support
from gradscribe.primitives.limits import WITHOUT_DERIVATIVE

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "functions.md"
HEAD = """# Functions that have a derivative

Written by `python -m tests.functions` from what `gs.supported()` returns. Each of these functions
has both modes, reverse and forward, to any order, in compiled functions and (where NumPy hands
its call over: not those that make arrays, as `np.array`) with Tensors. The operators, `abs`,
`min`, `max`, `sum`, `round`, `pow` and `divmod` of Python have theirs as well.

SciPy's functions are differentiated where SciPy is installed; its ufuncs also with Tensors, the
others in compiled functions (`gs.differentiable(scipy.linalg.expm)(tensor)` is one node). By an
order or a parameter in which no derivative is known (of `scipy.special.jv(v, z)` by `v`; of the
cumulative functions and quantiles of most distributions by their shapes) a program that needs it
is refused. Distributions have the methods `logpdf`, `pdf`, `cdf`, `logcdf`, `sf`, `logsf`, `ppf`
and `isf`, or `logpmf` and `pmf`, with a location and a scale, also frozen; those of
several numbers have the methods that are listed.

In forward mode a tangent that is 0 is multiplied by an infinite derivative, too: a column of
`gs.jacfwd` is NaN where an element that does not change is at a pole, as of `np.sum(np.sqrt(x))`
at `[0, 1]`; reverse mode gives infinity for that element alone.
"""


def page() -> str:
    """The text of the page."""
    entries = gs.supported()
    differentiable = [entry for entry in entries if entry.modes]
    parts = [HEAD]
    for module, group in itertools.groupby(differentiable, _module):
        parts.append(f"## `{module}`\n\n{_listed(list(group))}")
    parts.append("## With limits\n\n| function | what to know |\n| --- | --- |")
    parts[-1] += "".join(f"\n| `{e.name}` | {e.limits} |" for e in differentiable if e.limits)
    parts.append("## Without derivative\n\n" + "\n".join(_reason(e) for e in _REASONS))
    return "\n".join([f"{part.rstrip()}\n" for part in parts])


_REASONS = tuple(WITHOUT_DERIVATIVE.items())


def _module(entry: Support) -> str:
    return entry.name.rpartition(".")[0] if entry.name.count(".") < 2 else _owner(entry.name)


def _owner(name: str) -> str:
    first, second, *_ = name.split(".")
    if first == "torchlike":
        return name.rpartition(".")[0]
    return f"{first}.{second}" if first == "scipy" or second in ("linalg", "fft", "lib") else first


def _listed(entries: list[Support]) -> str:
    return _filled([entry.name.removeprefix(f"{_module(entry)}.") for entry in entries])


def _reason(entry: tuple[str, str]) -> str:
    reason, names = entry
    return _filled(names.split(), f"- {reason}: ", "  ")


def _filled(names: Sequence[str], before: str = "", indent: str = "") -> str:
    return textwrap.fill(
        before + ", ".join(f"`{name}`" for name in names),
        100,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


if __name__ == "__main__":
    if sys.version_info < (3, 13):
        sys.exit("the page lists what CPython 3.13 and its newest NumPy have: write it there")
    PAGE.write_text(page())
