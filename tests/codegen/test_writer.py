"""Texts of syntax trees parse to the same trees, and have no parentheses to spare."""

from __future__ import annotations

import ast

import pytest

from gradscribe.codegen.writer import Writer

EXPRESSIONS = [
    "-(a + b) * c - (d - e)",
    "a - (b - c) - d",
    "a / (b * c) * (d / e)",
    "a @ b.T @ (c + d)",
    "a**2 + (-a) ** -b ** 2",
    "(-1.0) ** 2 + 2 ** -1",
    "a**(b + 1)",
    "not (a and b or c) and not d",
    "a or b and (c or d)",
    "(a < b) == (c is not None)",
    "0 < a < b",
    "a not in b",
    "a if b else c if d else e",
    "(a if b else c) + 1",
    "(lambda x, y: x + y)(1, 2)",
    "A[i, :j]",
    "A[i]",
    "A[()]",
    "A[1 : n - 1, ..., None, ::2]",
    "A[i + 1 :][0].T",
    "A[(a, b)[0]]",
    "(a, (b,), ())",
    "[a, (b, c)]",
    '{"a": 1, "b": (1, 2)}["a"]',
    "[a + b for a, b in zip(x, y)]",
    "[0.0] * len(x)",
    "{key: a + y[key] for key, a in x.items()}",
    "f(a, *b, axis=(0, 1), **c)",
    "np.sum(a, axis=0, keepdims=True)",
    "(3).real + 1.5.imag",
    "2j * 1e400",
    "'it\\'s' + \"\\n\" + '\"'",
    "b'bytes'",
    "f'{x!r:>{w}.2f} it\\'s \"q\" {{}} \\n {y + 1}'",
    "f'{ {1: 2}[1] }'",
    "~a & b | c ^ d << 1",
]
STATEMENTS = [
    "x = a, b",
    "(a, b), (c,) = params",
    "a, b = b, a",
    "A[i, :j] += b",
    "A[...] = 0",
    "return (a, b), c",
    "return",
    "assert a, 'message'",
    "assert a, ('message', b)",
    "raise ValueError('a') from error",
    "raise",
    "for i, (a, b) in enumerate(zip(x, y)):\n    continue\nelse:\n    pass",
    "while True:\n    break",
    "if a:\n    pass\nelif b:\n    x = 1\nelse:\n    y = 2",
    "def f(a, b=1.0, *, c=(), **d):\n    '''One line.'''\n    return a",
]


@pytest.mark.parametrize("source", EXPRESSIONS + STATEMENTS)
def test_text_parses_to_the_same_tree(source: str) -> None:
    tree = ast.parse(source)
    assert ast.dump(ast.parse(Writer(tree).text)) == ast.dump(tree)


@pytest.mark.parametrize("source", [s for s in EXPRESSIONS if "'" not in s])
def test_parentheses_are_those_that_are_needed(source: str) -> None:
    plain = source.replace("(-a) ** -b ** 2", "(-a) ** -b**2")
    plain = plain.replace("(-1.0) ** 2 + 2 ** -1", "(-1.0)**2 + 2**-1")
    plain = plain.replace("a**(b + 1)", "a ** (b + 1)").replace("1.5.imag", "(1.5).imag")
    plain = plain.replace("1e400", "1e309")
    if plain.startswith("(a, (b"):
        plain = plain[1:-1]
    assert Writer(ast.parse(source)).text == plain + "\n"


@pytest.mark.parametrize(
    "text", ["One.", "Lines\\\n\n    more\nend", 'with """ and "', 'ends in "']
)
def test_docstrings_say_the_same(text: str) -> None:
    function = ast.parse("def f(): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body.insert(0, ast.Expr(ast.Constant(text)))
    found = ast.parse(Writer(function).text).body[0]
    assert isinstance(found, ast.FunctionDef)
    assert ast.get_docstring(found) == text


def test_comments_stand_at_the_end_and_are_cut_to_the_line() -> None:
    tree = ast.parse("x = 1\ny = 2")
    first, second = tree.body
    text = Writer(tree, {first: "x = a", second: "y = " + "long " * 40}, [second]).text
    lines = text.splitlines()
    assert lines[:2] == ["x = 1  # x = a", ""]
    assert lines[2].endswith(" ...") and len(lines[2]) <= 100


def test_long_lines_are_broken_in_brackets() -> None:
    names = ", ".join(f"argument_{n}" for n in range(12))
    for source in (f"x = f({names})", f"return {names}", f"{names} = record", f"x = {names}"):
        tree = ast.parse(source)
        text = Writer(tree).text
        assert max(map(len, text.splitlines())) <= 100
        assert ast.dump(ast.parse(text)) == ast.dump(tree)
