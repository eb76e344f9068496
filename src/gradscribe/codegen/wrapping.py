"""Lines that are too long, broken inside brackets."""

from __future__ import annotations

from collections.abc import Iterator

INDENT = "    "
_OPEN, _CLOSE = "([{", ")]}"


def wrap(line: str, width: int) -> str:
    """The line, if it is longer than width, as several: what stands in its longest brackets on
    lines of its own, broken at commas. A bare tuple is put in parentheses for that."""
    if len(line) <= width:
        return line
    groups = list(_groups(line))
    longest = max(groups, key=lambda group: group[1] - group[0], default=(0, 0))
    if longest[1] - longest[0] < len(line) // 3:
        line = _parenthesized(line)
        groups = list(_groups(line))
        longest = max(groups, key=lambda group: group[1] - group[0], default=(0, 0))
        if longest == (0, 0):
            return line
    start, stop = longest
    indent = line[: len(line) - len(line.lstrip())]
    within = line[start + 1 : stop]
    inner = _filled(_parts(within), indent + INDENT, width)
    if within.endswith(","):
        inner[-1] += ","  # that of a tuple of one
    return "\n".join([line[: start + 1], *inner, indent + line[stop:]])


def _parenthesized(line: str) -> str:
    """A `return` or an unpacking of many names, in parentheses."""
    stripped = line.lstrip()
    indent = line[: len(line) - len(stripped)]
    if stripped.startswith("return "):
        return f"{indent}return ({stripped.removeprefix('return ')})"
    targets, equals, value = stripped.partition(" = ")
    if equals and len(list(_parts(targets))) > 1:
        return f"{indent}({targets}) = {value}"
    if equals:
        return f"{indent}{targets} = ({value})"
    return line


def _filled(parts: Iterator[str], indent: str, width: int) -> list[str]:
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(part) + 3 <= width:
            lines[-1] += f", {part}"
        else:
            if lines:
                lines[-1] += ","
            lines.append(indent + part)
    return lines


def _scan(text: str) -> Iterator[tuple[int, str, int]]:
    """Each character outside strings, with its place and the depth of brackets before it."""
    depth, quote, place = 0, "", 0
    while place < len(text):
        character = text[place]
        if quote:
            if character == "\\":
                place += 1
            elif character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        else:
            depth -= character in _CLOSE
            yield place, character, depth
            depth += character in _OPEN
        place += 1


def _groups(line: str) -> Iterator[tuple[int, int]]:
    """Where the outermost brackets open and close."""
    start = 0
    for place, character, depth in _scan(line):
        if depth == 0 and character in _OPEN:
            start = place
        elif depth == 0 and character in _CLOSE:
            yield start, place


def _parts(text: str) -> Iterator[str]:
    """What stands between the commas that are in no brackets."""
    start = 0
    for place, character, depth in _scan(text):
        if depth == 0 and character == ",":
            yield text[start:place].strip()
            start = place + 1
    if text[start:].strip():
        yield text[start:].strip()
