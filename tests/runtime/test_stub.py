"""The stubs, which editors and type checkers read, are made of the rows."""

import ast

from gradscribe.runtime import namespace
from gradscribe.torchlike.nn import functional
from tools import stubs


def declared(text):
    """The names that a stub declares, and the nodes that do."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname: node for alias in node.names if alias.asname}
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = node
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
    return found


def test_the_stub_of_the_namespace_has_all_its_names():
    assert {*declared(stubs.namespace())} == {*namespace.__all__}


def test_it_declares_the_parameters_and_the_docstring_of_a_function():
    function = declared(stubs.namespace())["clamp"]
    assert [a.arg for a in function.args.args + function.args.kwonlyargs] == [
        "input",
        "min",
        "max",
        "out",
    ]
    assert "Shapes: " in ast.get_docstring(function)


def test_the_stub_of_functions_for_models_has_their_parameters():
    found = declared(stubs.functional())
    assert [*found] == functional.__all__
    names = [a.arg for a in found["mse_loss"].args.args]
    assert names == ["input", "target", "size_average", "reduce", "reduction", "weight"]


def test_the_stub_of_tensor_has_its_methods_operators_and_properties():
    body = declared(stubs.attached())["Attached"].body
    names = {node.name for node in body}
    assert {"backward", "__add__", "__getitem__", "view", "zero_", "T", "clamp_"} <= names
    assert names <= {*stubs.attached_names()}
