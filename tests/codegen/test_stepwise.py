"""Generated code with a statement for each operation: computes the same, and knows whence."""

import numpy as np

from gradscribe.codegen import itemize
from tests.codegen.programs import compiled


def test_each_operation_is_a_line_that_knows_its_statement():
    def function(x, s):
        y = np.sin(x) * np.cos(x) + 1.0
        if s > 0:
            y = y * (x + 2.0)
        return np.sum(y)

    lines = itemize(compiled(function, np.ones(2), 1.0)).lines
    assert [
        (line.text, sorted(line.reads), sorted(line.writes), line.location.statement)
        for line in lines.values()
        if line.location is not None
    ] == [
        ("t = np.sin(x)", ["np", "x"], ["t"], "y = np.sin(x) * np.cos(x) + 1.0"),
        ("t_1 = np.cos(x)", ["np", "x"], ["t_1"], "y = np.sin(x) * np.cos(x) + 1.0"),
        ("t = t * t_1", ["t", "t_1"], ["t"], "y = np.sin(x) * np.cos(x) + 1.0"),
        ("y = t + 1.0", ["t"], ["y"], "y = np.sin(x) * np.cos(x) + 1.0"),
        ("branch = s > 0", ["s"], ["branch"], "if s > 0:"),
        ("if branch:", ["branch"], [], "if s > 0:"),
        ("t = x + 2.0", ["x"], ["t"], "y = y * (x + 2.0)"),
        ("y = y * t", ["t", "y"], ["y"], "y = y * (x + 2.0)"),
        ("t = np.sum(y)", ["np", "y"], ["t"], "return np.sum(y)"),
    ]
