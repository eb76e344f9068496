"""Progress bars of tqdm: a bar over an iterable yields the objects that this yields.

Such a bar is two objects here: one that is compiled, and gives the items; and the bar itself, which
is made, moved and closed in the running program, and of which nothing else is known. A bar that is
given nothing to run over is that one alone.
"""

from __future__ import annotations

import sys
from typing import Any

from gradscribe.frontend.objects import construction
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.handlers import Handler, enter
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Static


class Progress:
    """A `tqdm.tqdm`. made: its class."""

    def __init__(
        self,
        made: Any,
        iterable: Any = None,
        desc: Any = None,
        total: Any = None,
        *rest: Any,
        **options: Any,
    ) -> None:
        if total is None:
            total = _length(iterable)
        self.iterable = iterable
        self.bar = made(None, desc, total, *rest, **options)

    def __iter__(self) -> Any:
        return map(self._shown, self.iterable)

    def _shown(self, item: Any) -> Any:
        self.bar.update()
        return item

    def __len__(self) -> int:
        return len(self.iterable)

    def __bool__(self) -> bool:
        return bool(self.iterable)

    def __contains__(self, item: Any) -> bool:
        return item in self.iterable

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *raised: Any) -> None:
        self.bar.close()

    def set_description(self, *given: Any, **options: Any) -> None:
        self.bar.set_description(*given, **options)

    def set_description_str(self, *given: Any, **options: Any) -> None:
        self.bar.set_description_str(*given, **options)

    def set_postfix(self, *given: Any, **options: Any) -> None:
        self.bar.set_postfix(*given, **options)

    def set_postfix_str(self, *given: Any, **options: Any) -> None:
        self.bar.set_postfix_str(*given, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bar, name)


def _length(iterable: Any) -> Any:
    try:
        return len(iterable)
    except TypeError:
        return None


def _bar(name: str) -> Handler:
    def handler(
        lowering: Lowering, node: Any, /, *given: FrontendValue, **options: FrontendValue
    ) -> FrontendValue:
        module, _, cls = name.partition(":")
        made = getattr(sys.modules[module], cls)
        over = given[0] if given else options.get("iterable", Static(None))
        if over == Static(None):
            return unknown.call(lowering, node, made, given, options)
        return construction.instantiate(lowering, node, Progress, (Static(made), *given), options)

    return handler


_CLASSES = ("std:tqdm", "asyncio:tqdm_asyncio", "auto:tqdm", "notebook:tqdm_notebook")
enter({f"tqdm.{name}": _bar(f"tqdm.{name}") for name in _CLASSES})
