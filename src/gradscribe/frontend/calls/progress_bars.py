"""Progress bars of tqdm: a bar over an iterable yields the objects that this yields.

Such a bar is two objects here: one that is compiled, and gives the items; and the bar itself, which
is made, moved and closed in the running program, and of which nothing else is known. A bar that is
given nothing to run over is that one alone.
"""

from __future__ import annotations

from typing import Any

from gradscribe.frontend.objects import construction
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state import handlers
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Static


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


def _bar(lowering: Lowering, node: Any, callee: Any, arguments: Any, keywords: Any) -> Any:
    over = arguments[0] if arguments else keywords.get("iterable", Static(None))
    if over == Static(None):
        return unknown.call(lowering, node, callee, arguments, keywords)
    given = (Static(callee), *arguments)
    return construction.instantiate(lowering, node, Progress, given, keywords)


handlers.CLASSES.update(
    {
        "tqdm.std:tqdm": _bar,
        "tqdm.asyncio:tqdm_asyncio": _bar,
        "tqdm.auto:tqdm": _bar,
        "tqdm.notebook:tqdm_notebook": _bar,
    }
)
