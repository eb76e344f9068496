"""Writes `docs/operations.md`: the functions on Tensors, as their rows say.

`make reference` runs it; a test compares the page with the rows.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "operations.md"
HEAD = """# Functions on Tensors

Written by `make reference` from the rows of the operations: what each function computes, the shapes
of its operands and its result, the dtype of the result where it is not that of the operands, and
other ways to call it. In shapes `…` stands for any axes, which broadcast where several operands
have them; x is a Tensor. Shapes that do not fit raise a RuntimeError, operands of other kinds a
TypeError, in PyTorch's words. NumPy's `axis`, `keepdims`, `x`, `a` are understood for `dim`,
`keepdim`, `input`. [For users of PyTorch](pytorch.md) tells what is different here.
"""


def entry(name: str, function: Any, is_method: bool = False) -> str:
    """A line for a function."""
    text = " ".join((inspect.getdoc(function) or "").split())
    return f"- **`{name}{_plain_signature(function, is_method)}`** {text}"


def _plain_signature(function: Any, is_method: bool) -> str:
    """The parameters with their defaults, without annotations."""
    signature = inspect.signature(function)
    parameters = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in signature.parameters.values()
        if p.name != "out"
    ][is_method:]
    shown = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    return str(shown)


def page() -> str:
    """The text of the page."""
    import gradscribe as gs
    from gradscribe import torchlike
    from gradscribe.runtime.arrays.rows import FUNCTION, MAIN, METHOD, Table
    from gradscribe.torchlike import fft, linalg, special
    from gradscribe.torchlike.nn import functional
    from gradscribe.torchlike.nn.functional.rows import FUNCTIONAL
    from gradscribe.torchlike.signal import windows

    def entries(table: Table, module: Any, names: set[str]) -> list[str]:
        rows = [row for row in table if row.spelling & FUNCTION and row.name in names]
        return [entry(row.name, getattr(module, row.name)) for row in sorted(rows, key=_by_name)]

    own, everything = {*gs.__all__}, {*MAIN.rows}
    methods = [r for r in MAIN if not r.spelling & FUNCTION and r.spelling & METHOD]
    sections = {
        "`gs`": entries(MAIN, torchlike, own),
        "`gradscribe.torchlike`": entries(MAIN, torchlike, everything - own),
        "Methods alone": [
            entry(f"x.{row.name}", row.function, True) for row in sorted(methods, key=_by_name)
        ],
    }
    for table, module in (
        (linalg.LINALG, linalg),
        (fft.FFT, fft),
        (special.SPECIAL, special),
        (windows.WINDOWS, windows),
        (FUNCTIONAL, functional),
    ):
        sections[f"`gradscribe.{table.name}`"] = entries(table, module, {*table.rows})
    parts = [f"## {title}\n\n" + "\n".join(lines) + "\n" for title, lines in sections.items()]
    return "\n".join([HEAD, *parts])


def _by_name(row: Any) -> str:
    return str(row.name)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    PAGE.write_text(page())
