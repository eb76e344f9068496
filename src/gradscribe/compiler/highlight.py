"""Python source as HTML for notebooks, with keywords, numbers, strings and comments coloured."""

from __future__ import annotations

import html
import io
import keyword
import token
import tokenize

_COLOURS = {
    token.NUMBER: "#1750eb",
    token.STRING: "#067d17",
    tokenize.COMMENT: "#8c8c8c",
}
_KEYWORD = "#7a3e9d"


def highlighted(source: str) -> str:
    """The source in a `<pre>` element."""
    return f'<pre style="line-height: 1.35">{"".join(_pieces(source))}</pre>'


def _pieces(source: str) -> list[str]:
    lines = source.splitlines(keepends=True)
    pieces: list[str] = []
    row, column = 1, 0
    for item in tokenize.generate_tokens(io.StringIO(source).readline):
        if item.type in (token.ENDMARKER, token.DEDENT, token.INDENT):
            continue
        start_row, start_column = item.start
        while row < start_row:
            pieces.append(html.escape(lines[row - 1][column:]))
            row, column = row + 1, 0
        pieces.append(html.escape(lines[row - 1][column:start_column]))
        pieces.append(_coloured(item))
        row, column = item.end
    return pieces


def _coloured(item: tokenize.TokenInfo) -> str:
    text = html.escape(item.string)
    colour = _COLOURS.get(item.type)
    if item.type == token.NAME and keyword.iskeyword(item.string):
        colour = _KEYWORD
    return text if colour is None else f'<span style="color: {colour}">{text}</span>'
