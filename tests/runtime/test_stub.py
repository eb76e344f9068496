"""The names that editors complete."""

from tests.runtime import stub


def test_what_the_stub_declares_is_attached():
    assert sorted({*stub.declared_names()} - {*stub.attached_names()}) == []


def test_the_stub_knows_the_methods_of_autograd_and_the_operators():
    assert {"backward", "requires_grad_", "detach", "register_hook"} <= {*dir(stub.gs.Tensor)}
    assert {"backward", "__add__", "__getitem__", "view", "zero_"} <= {*stub.declared_names()}


def test_the_stub_of_the_namespace_has_all_its_names():
    assert sorted(stub.namespace_names()) == sorted(stub.namespace.__all__)


def test_the_stub_has_all_public_methods():
    missing = {*stub.attached_names()} - {*stub.declared_names()}
    assert [name for name in sorted(missing) if not name.startswith("_")] == []
