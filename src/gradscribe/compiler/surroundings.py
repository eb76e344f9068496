"""The package around the compiler, as its layers above have said: once, when they are imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradscribe.frontend import inlined_rules
from gradscribe.frontend.state.package import Package
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Location

_package = Package()


def enter(package: Package) -> None:
    """Let what is lowered from now on know this package."""
    global _package
    _package = package


def package() -> Package:
    """What a lowering is told of the package."""
    return _package


def inline(
    builder: Builder,
    rule: Callable[..., Any],
    arguments: Mapping[str, Any],
    location: Location | None = None,
) -> Any:
    """Inline a derivative rule; see `frontend.inlined_rules`."""
    return inlined_rules.inline(builder, rule, arguments, location, _package)
