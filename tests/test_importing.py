"""What `import gradscribe` loads, and what is loaded when it is first named."""

import subprocess
import sys

import pytest

import gradscribe as gs
from gradscribe import torchlike
from tests.sampling import examples

TENSORS_ONLY = """
import gradscribe as gs
x = gs.tensor([1.0, 2.0])
y = (x * x).sum().reshape(1)[0]
with gs.no_grad():
    gs.ones(2, requires_grad=True).exp()
"""

FIRST_USES = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import gradscribe as gs

def square(x):
    return x * x

def differentiated(k):
    x = gs.tensor([3.0], requires_grad=True)
    (x * x if k % 2 else x.sum() * x).backward()
    return float(x.grad[0])

uses = [
    *(lambda k=k: differentiated(k) for k in range(4)),
    lambda: gs.grad(square)(3.0),
    lambda: gs.vjp(square, 3.0)[1](1.0)[0],
    lambda: gs.jvp(square, (3.0,), (1.0,))[1],
    lambda: 6.0 * bool(gs.supported()),
]
start = Barrier(len(uses))

def first(use):
    start.wait()
    return use()

with ThreadPoolExecutor(len(uses)) as pool:
    assert list(pool.map(first, uses)) == [6.0] * len(uses)
"""


def _run(program):
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("program", ["import gradscribe", TENSORS_ONLY], ids=["import", "Tensors"])
def test_the_compiler_is_not_loaded_by(program):
    unwanted = ("compiler", "codegen", "transforms", "frontend", "api", "torchlike", "testing")
    _run(
        f"{program}\nimport sys\n"
        f"found = [m for m in {unwanted} if 'gradscribe.' + m in sys.modules]\n"
        "found += [m for m in ('scipy', 'gast', 'numpy.random') if m in sys.modules]\n"
        "assert found == [], found\n"
    )


def test_what_is_not_yet_loaded_is_named_by_dir_and_star():
    _run(
        "import pickle, gradscribe as gs\n"
        "assert {'grad', 'differentiable', 'testing', 'supported', 'zeros'} <= {*dir(gs)}\n"
        "assert 'gradscribe.api' not in __import__('sys').modules\n"
        "from gradscribe import *\n"
        "assert grad is gs.grad and pickle.loads(pickle.dumps(gs.grad)) is grad\n"
        "assert vars(gs)['grad'] is grad\n"
    )


def test_all_names_are_there():
    assert [name for name in gs.__all__ if not hasattr(gs, name)] == []


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'gradscribe' has no attribute 'gard'"):
        gs.gard


def test_threads_may_be_the_first_to_need_the_compiler_together(tmp_path):
    program = tmp_path / "first_uses.py"
    program.write_text(FIRST_USES)
    for _ in range(examples(3, 1)):
        subprocess.run([sys.executable, program], check=True)


def test_the_scope_is_small_when_all_is_loaded() -> None:
    _run(
        "import gradscribe as gs, gradscribe.torchlike\n"
        "assert all(hasattr(gs, name) for name in gs.__all__)\n"
        "shown = [name for name in dir(gs) if not name.startswith('_')]\n"
        "assert len(shown) <= 180, len(shown)\n"
        "others = {*shown} - {*gs.__all__}\n"
        "assert all(f'gradscribe.{name}' in __import__('sys').modules for name in others), others\n"
    )


@pytest.mark.parametrize("name", ["hypot", "nn", "linalg", "int8"])
def test_a_name_of_pytorch_that_is_elsewhere_says_where(name: str) -> None:
    with pytest.raises(AttributeError, match=f"it is `gradscribe.torchlike.{name}`"):
        getattr(gs, name)


@pytest.mark.parametrize(
    "name",
    ["autograd", "autograd.functional", "autograd.forward_ad", "utils.checkpoint", "nn.functional"]
    + ["linalg", "fft", "special", "signal.windows", "cuda"],
)
def test_modules_of_the_drop_in_are_imported_by_their_names(name: str) -> None:
    _run(
        f"import gradscribe.torchlike.{name} as found, gradscribe.torchlike as torch\n"
        f"assert found is torch.{name}\n"
    )


def test_the_drop_in_has_what_gradscribe_has_of_pytorch() -> None:
    own = "DifferentiableFunction Specialization differentiable errors grad hessian hvp jacfwd "
    own += "jacobian jacrev jvp primitive stop_gradient supported trace value_and_grad vjp"
    for name in {*gs.__all__} - {*own.split()}:
        assert getattr(torchlike, name) is getattr(gs, name), name
    assert len(torchlike.__all__) > 500
