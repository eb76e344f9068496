"""The main job, from source to gradient: what the compiler reads, writes and computes.

For five functions this prints the user's source, the generated forward and adjoint source,
runs them through `backward()`, says what the run recorded, and checks the gradients against
finite differences. It shows the loops of one as native code, where Numba is installed, and times
both. Then it trains the tutorial's linear regression with Tensors and draws the fit and the loss.

    python examples/demo.py [directory for the picture]
"""

from __future__ import annotations

import inspect
import pathlib
import sys
import textwrap
import timeit

import numpy as np

import gradscribe as gs


@gs.differentiable
def absolute(x):
    if x.data[0] > 0:
        return x
    else:
        return -x


@gs.differentiable
def product(x):
    result = 1
    for xi in x:
        if xi.item() > 0:
            result = xi * result
    return result


@gs.differentiable
def newton_sqrt(a, tol):
    x = a
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


@gs.differentiable
def mlp_loss(params, x, y):
    (W1, b1), (W2, b2) = params
    h = np.tanh(x @ W1 + b1)
    r = h @ W2 + b2 - y
    return np.mean(r**2)


@gs.differentiable
def seidel(A, steps):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0
    return np.sum(A)


def title(text: str) -> None:
    print(f"\n{text}\n{'=' * len(text)}")


def show(function, *args, argnums=None) -> None:
    """Print the source of a function and of what was generated for these arguments."""
    title(function.__name__)
    print(textwrap.dedent(inspect.getsource(function.__wrapped__)))
    specialization = function.specialize(*args, argnums=argnums)
    print(specialization.forward_source)
    print(specialization.adjoint_source)


def recorded(record) -> str:
    """What a forward run kept for its adjoint, in words."""
    if isinstance(record, tuple):
        return ", ".join(map(recorded, record)) or "nothing"
    if isinstance(record, list):
        return f"{len(record)} values, one for each iteration or store"
    if isinstance(record, np.ndarray):
        return f"an array of shape {record.shape}"
    if isinstance(record, (bool, np.bool_)):
        return f"the branch taken: {bool(record)}"
    return repr(record)


def run(function, *args, argnums=None) -> None:
    """Run the forward function on plain arrays and print what it recorded."""
    _, record = function.specialize(*args, argnums=argnums).forward(*args)
    print(f"recorded: {recorded(record)}")


def check(name: str, function, *args) -> None:
    """Compare the generated derivatives with finite differences and with each other."""
    gs.testing.check_grad(function, *args)
    print(f"{name}: forward mode, reverse mode and finite differences agree")


def tutorial_functions() -> None:
    """§3.2.2 of the tutorial: control flow decides what is differentiated."""
    show(absolute, np.ones(1))
    for start in (1.0, -1.0):
        x = gs.tensor([start], requires_grad=True)
        y = absolute(x)
        y.backward()
        print(f"absolute([{start}]): x.grad = {x.grad}")
        run(absolute, np.array([start]))
    check("absolute", absolute, np.array([1.5]))

    show(product, np.arange(-2.0, 4.0))
    x = gs.arange(-2, 4, requires_grad=True)
    y = product(x)
    y.backward()
    print(f"x.grad = {x.grad}")
    run(product, np.arange(-2.0, 4.0))
    check("product", product, np.arange(-2.0, 4.0) + 0.1)


def numerical_functions() -> None:
    """Data-dependent loops, containers of arrays, and stores in place."""
    rng = np.random.default_rng(0)
    show(newton_sqrt, 2.0, 1e-3, argnums=0)
    a = gs.tensor(2.0, requires_grad=True)
    y = newton_sqrt(a, 1e-3)
    y.backward()
    print(f"newton_sqrt(2) = {y.item():.6f}, a.grad = {a.grad.item():.6f}")
    run(newton_sqrt, 2.0, 1e-3, argnums=0)
    check("newton_sqrt", lambda a: newton_sqrt(a, 1e-3), 2.0)

    params = ((rng.normal(size=(4, 5)), np.zeros(5)), (rng.normal(size=(5, 3)), np.zeros(3)))
    x, y = rng.normal(size=(7, 4)), rng.normal(size=(7, 3))
    show(mlp_loss, params, x, y, argnums=0)
    leaves = tuple(tuple(gs.tensor(p, requires_grad=True) for p in layer) for layer in params)
    loss = mlp_loss(leaves, x, y)
    loss.backward()
    print(f"loss = {loss.item():.6f}, norm of b2.grad = {np.linalg.norm(leaves[1][1].grad):.6f}")
    run(mlp_loss, params, x, y, argnums=0)
    check("mlp_loss", lambda params: mlp_loss(params, x, y), params)

    A = rng.normal(size=(6, 6))
    show(seidel, A, 3)
    grid = gs.tensor(A, requires_grad=True)
    total = seidel(grid.clone(), 3)
    total.backward()
    print(f"grid.grad[1] = {grid.grad[1]}")
    run(seidel, A, 3)
    check("seidel", lambda A: seidel(A, 3), A)


def native_loops() -> None:
    """The same gradient twice: as NumPy's text, and with its loops compiled by Numba."""
    title("native loops")
    A = np.random.default_rng(0).normal(size=(40, 40))
    plain = gs.grad(seidel)
    try:
        native = gs.grad(seidel, jit=True)
    except gs.errors.MissingLibraryError as error:
        print(error)
        return
    np.testing.assert_allclose(native(A, 3), plain(A, 3), rtol=1e-12)
    fast, slow = (
        min(timeit.repeat(lambda f=f: f(A, 3), number=1, repeat=9)) for f in (native, plain)
    )
    print(native.loops_source)
    print(f"seidel, 40 x 40: {slow * 1e6:.0f} us, and with jit=True {fast * 1e6:.0f} us")


def fake_data(batch_size: int = 8) -> tuple[gs.Tensor, gs.Tensor]:
    """y = 2 x + 3 and noise."""
    x = gs.rand(batch_size, 1) * 5
    y = x * 2 + 3 + gs.randn(batch_size, 1)
    return x, y


def linear_regression(folder: pathlib.Path) -> None:
    """§3.2.4 of the tutorial: a straight line, fitted by gradient descent."""
    title("linear regression")
    gs.manual_seed(1000)
    w = gs.rand(1, 1, requires_grad=True)
    b = gs.zeros(1, 1, requires_grad=True)
    losses = np.zeros(500)
    rate = 0.005
    for step in range(500):
        x, y = fake_data(batch_size=32)
        y_pred = x.mm(w) + b.expand_as(y)
        loss = (0.5 * (y_pred - y) ** 2).sum()
        losses[step] = loss.item()
        loss.backward()
        w.data.sub_(rate * w.grad.data)
        b.data.sub_(rate * b.grad.data)
        w.grad.data.zero_()
        b.grad.data.zero_()
        if step % 100 == 0:
            print(f"step {step:3d}: loss {losses[step]:8.3f}")
    print(f"w = {w.item():.4f}, b = {b.item():.4f}")
    draw(folder / "linear_regression.png", w.item(), b.item(), losses)


def draw(path: pathlib.Path, w: float, b: float, losses: np.ndarray) -> None:
    """The fitted line over fresh data, and the loss over the steps."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (fit, curve) = plt.subplots(1, 2, figsize=(9, 3.5))
    x, y = fake_data(batch_size=20)
    line = np.array([0.0, 5.0])
    fit.scatter(x.squeeze().numpy(), y.squeeze().numpy(), s=12)
    fit.plot(line, w * line + b, color="C1")
    fit.set(title=f"y = {w:.2f} x + {b:.2f}", xlabel="x", ylabel="y")
    curve.plot(losses, linewidth=0.8)
    curve.set(title="loss", xlabel="step", ylim=(0, 60))
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f"wrote {path}")


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    tutorial_functions()
    numerical_functions()
    native_loops()
    linear_regression(folder)


if __name__ == "__main__":
    main()
