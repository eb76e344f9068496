"""What PyTorch has and gradscribe has not is refused with advice."""

import copy
import pickle

import pytest

import gradscribe as gs
from gradscribe import autograd


@pytest.mark.parametrize(
    ("owner", "name", "advice"),
    [
        (gs, "vmap", "call the function in a loop"),
        (gs, "jit", "decorate the function with @gradscribe.differentiable"),
        (gs, "sparse_coo_tensor", "Tensors are dense"),
        (gs, "nested", "use a list of Tensors"),
        (gs, "symeig", "numpy.linalg take Tensors"),
        (gs, "save", "pickled"),
        (gs.ones(1), "bfloat16", "float"),
        (gs.ones(1), "symeig", "numpy.linalg take Tensors"),
        (gs, "profiler", "autograd.profiler"),
        (autograd.function, "NestedIOFunction", "derive from Function"),
        (gs.utils.checkpoint, "CheckpointPolicy", "every operation of a checkpoint runs again"),
        (gs.utils.checkpoint, "create_selective_checkpoint_contexts", "call `checkpoint` on what"),
        (gs.ones(1), "cuda", "leave the move out"),
        (gs.ones(1), "to_sparse", "Tensors are dense"),
    ],
)
def test_absent_names_are_refused_with_advice(owner, name, advice):
    assert not hasattr(owner, name)
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}': .*{advice}"):
        getattr(owner, name)


@pytest.mark.parametrize("owner", [gs, autograd, gs.ones(1)])
def test_names_that_nobody_knows_get_pythons_error(owner):
    with pytest.raises(AttributeError, match=r"has no attribute 'unknown'$"):
        owner.unknown


def test_no_device_is_available():
    assert not gs.cuda.is_available()
    assert gs.cuda.device_count() == 0


def test_copies_and_pickles_ask_for_no_absent_names():
    x = gs.ones(2, requires_grad=True)
    assert copy.deepcopy(x).tolist() == pickle.loads(pickle.dumps(x)).tolist() == [1, 1]
