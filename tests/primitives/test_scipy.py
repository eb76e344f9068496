"""SciPy's functions in the forms of their calls: values, both modes, second order, Tensors."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.ir.trees import flatten
from gradscribe.primitives import optional
from gradscribe.primitives.registry import COMPOSITIONS, PRIMITIVES
from tests.primitives.test_forms import (
    SAMPLES,
    check_value_and_modes,
    copies,
    expected_of,
    function_of,
    in_single_precision,
    is_floating,
    leaves,
    marked_forms,
)
from tests.sampling import one_in

scipy = pytest.importorskip("scipy")
special = fft = integrate = linalg = signal = stats = None
"""SciPy's modules, when the first test runs: importing them takes longer than collecting tests."""


@pytest.fixture(autouse=True, scope="module")
def imported_modules() -> None:
    for name in ("special", "fft", "integrate", "linalg", "signal", "stats"):
        globals()[name] = importlib.import_module(f"scipy.{name}")


pytestmark = pytest.mark.filterwarnings("ignore")

X = np.array([0.3, 0.7, 0.9])


def of_scipy(text: str) -> tuple[Any, list[str]]:
    """The function whose body is the text, and the names of its arguments."""
    names = {"np": np, "sp": special, "fft": fft, "integrate": integrate, "linalg": linalg}
    return function_of(text, (*names.items(), ("signal", signal), ("stats", stats)))


FORMS = marked_forms("forms/scipy")


def called(text: str) -> str:
    """The function of SciPy that a form calls first."""
    (name, *_) = re.findall(r"\b(?:sp|fft|integrate|linalg|signal|stats)\.\w+", text)
    return name


FIRST = list({called(text): text for text in reversed(FORMS)}.values())
"""One form of each function."""
SAMPLE = one_in(15, FORMS)


@pytest.mark.parametrize("text", dict.fromkeys([*SAMPLE, *FIRST]))
def test_value_and_both_modes_to_second_order(text: str) -> None:
    """Of a form that is not in the sample, but the first one of its function, the gradient."""
    if text not in SAMPLE:
        return check_gradient(text)
    order = 1 if "first" in FORMS[text] else 2
    check_value_and_modes(*of_scipy(text), FORMS[text], order)


def check_gradient(text: str) -> None:
    function, names = of_scipy(text)
    arguments = [SAMPLES[name] for name in names]
    expected_of(function, arguments)
    gs.testing.check_grad(function, *copies(arguments), modes=("reverse",), order=1)


def test_every_function_is_tested() -> None:
    """In one of its spellings; of distributions, one method. What rules are made of is tested with
    these."""
    optional.enter_imported()
    named = [re.findall(r"\b([a-z]\w*)\.(\w+)(?:\.(\w+))?", text) for text in FORMS]
    tested = {name for found in named for names in found for name in names if name}
    missing = [
        callee
        for callee, entry in (*PRIMITIVES.items(), *COMPOSITIONS.items())
        if ".primitives.scipy." in str((getattr(entry, "adjoint", None) or entry).__module__)
        and not str(getattr(callee, "__module__", None)).startswith("gradscribe.")
        and tested.isdisjoint({_name_of(callee), _name_of(getattr(callee, "__self__", None))})
    ]
    assert not missing


def _name_of(callee: Any) -> str:
    """Distributions of several numbers have no name but that in their module."""
    own = getattr(callee, "__name__", None) or getattr(callee, "name", None)
    return own or next((name for name, value in vars(stats).items() if value is callee), "")


CALLS = [text for text in FORMS if re.fullmatch(r"sp\.\w+\([^()]*\)", text)]


@pytest.mark.parametrize("text", one_in(10, CALLS))
def test_eager_tensors_give_the_same(text: str) -> None:
    if not isinstance(getattr(special, text[3 : text.index("(")], None), np.ufunc):
        pytest.skip("SciPy hands over the calls of ufuncs alone")
    function, names = of_scipy(text)
    arguments = [SAMPLES[name] for name in names]
    value, pullback = gs.vjp(function, *arguments)
    given = [gs.tensor(x, requires_grad=True) for x in arguments]
    results, values = flatten(function(*given))[1], flatten(value)[1]
    for result, wanted in zip(results, values, strict=True):
        np.testing.assert_allclose(result.detach().numpy(), wanted, rtol=1e-12)
    gradients = gs.autograd.grad(results, given, list(map(gs.tensor, values)))
    for gradient, wanted in zip(gradients, pullback(value), strict=True):
        np.testing.assert_allclose(gradient.numpy(), wanted, rtol=1e-9)


OF_ANOTHER_PRECISION = ("linalg.schur(", "integrate.simpson")
"""Those whose signs jump at these matrices, in single precision, or whose precision depends on a
length."""
if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 16):  # in these, on the values
    OF_ANOTHER_PRECISION += (
        "linalg.sqrtm",
        "linalg.fractional_matrix_power",
        "sp.logsumexp(m, b=",
    )


@pytest.mark.parametrize("text", [t for t in SAMPLE if not t.startswith(OF_ANOTHER_PRECISION)])
def test_values_and_derivatives_are_of_the_precision_that_scipy_gives(text: str) -> None:
    function, names = of_scipy(text)
    arguments = [in_single_precision(SAMPLES[name]) for name in names]
    expected = leaves(expected_of(function, arguments))
    value, pullback = gs.vjp(function, *copies(arguments))
    assert [x.dtype for x in leaves(value)] == [x.dtype for x in expected]
    for x, cotangent in zip(arguments, pullback(value), strict=True):
        assert not is_floating(x) or np.asarray(cotangent).dtype == x.dtype
    if "reverse" in FORMS[text]:
        return
    _, tangent = gs.jvp(function, tuple(copies(arguments)), tuple(copies(arguments)))
    pairs = zip(leaves(tangent), expected, strict=True)
    assert all(d.dtype == x.dtype for d, x in pairs if is_floating(x))


@pytest.mark.parametrize(
    "function",
    [lambda v, x: special.jv(v, x), lambda c, x: stats.gompertz.cdf(x, c)],
    ids=["jv", "gompertz"],
)
def test_a_derivative_that_is_not_known_is_refused_and_not_zero(function: Any) -> None:
    arguments = (1.5, 0.7)
    with pytest.raises(gs.errors.NoDerivativeError, match="by this argument is not known"):
        gs.grad(function)(*arguments)
    with pytest.raises(gs.errors.NoDerivativeError, match="by this argument is not known"):
        gs.jvp(function, arguments, (1.0, 0.0))
    assert np.isfinite(gs.grad(function, argnums=1)(*arguments))


@pytest.mark.parametrize("x", [np.inf, 30.0, 2.6, 2.4, 1e-8, 0.0])
def test_an_incomplete_gamma_function_moves_with_its_parameter(x: float) -> None:
    """Also in the tail, where one minus the other has no digit left; and at both ends."""
    by_a = gs.grad(lambda a, x: special.gammaincc(a, x))(1.5, x)
    if x in (0.0, np.inf):
        assert by_a == 0
        return
    step = 1e-4
    differences = special.gammaincc(1.5 + step, x) - special.gammaincc(1.5 - step, x)
    assert by_a == pytest.approx(differences / (2 * step), rel=1e-6)


@pytest.mark.parametrize(("a", "b"), [(2.0, 3.0), (200.0, 0.5), (1e4, 1e4)])
@pytest.mark.parametrize("side", [0, 1])
def test_an_incomplete_beta_function_moves_with_its_parameters(
    a: float, b: float, side: int
) -> None:
    x, step = stats.beta.ppf([1e-9, 1 - 1e-9][side], a, b), 1e-4
    function = [special.betainc, special.betaincc][side]
    by_a, by_b = gs.grad(lambda a, b: function(a, b, x), argnums=(0, 1))(a, b)
    of_a = function(a * (1 + step), b, x) - function(a * (1 - step), b, x)
    of_b = function(a, b * (1 + step), x) - function(a, b * (1 - step), x)
    assert by_a == pytest.approx(of_a / (2 * step * a), rel=1e-3)
    assert by_b == pytest.approx(of_b / (2 * step * b), rel=1e-3)


def test_undefined_parameters_give_nan_and_end() -> None:
    by_a = gs.grad(lambda a: np.sum(special.gammainc(a, np.array([2.0, -2.0]))))
    assert np.isnan(by_a(-3.0))
    by_b = gs.grad(lambda b: np.sum(special.betainc(1.0, b, np.array([0.5, 2.0]))))
    assert np.isnan(by_b(-1.5))


AT_ZERO = [
    ("sp.j1(v)", [0.5, 0, -0.375]),
    ("sp.i1(v)", [0.5, 0, 0.375]),
    ("sp.exprel(v)", [1 / 2, 1 / 3, 1 / 4]),
    ("sp.ellipk(v)", [np.pi / 8, 9 * np.pi / 64, 75 * np.pi / 256]),
    ("sp.spence(1 + v)", [-1, 0.5, -2 / 3]),
    ("sp.spherical_jn(0, v)", [0, -1 / 3, 0]),
    ("sp.spherical_jn(1, v)", [1 / 3, 0, -1 / 5]),
    ("sp.spherical_in(1, v)", [1 / 3, 0, 1 / 5]),
    ("sp.bei(v)", [0, 0.5, 0]),
    ("sp.expn(5, v)", [-1 / 3, 1 / 2, -1]),
    ("sp.gammainc(3.0, v)", [0, 0, 1]),
    ("sp.gammainc(1.0, v)", [1, -1, 1]),
    ("sp.betainc(2.0, 1.0, v)", [0, 2, 0]),
    ("sp.betaincc(3.0, 2.0, v)", [0, 0, -24]),
    ("sp.xlogy(v, 2)", [np.log(2), 0, 0]),
    ("sp.xlog1py(v, 2)", [np.log(3), 0, 0]),
    ("sp.xlogy(v, -2.0)", [0, 0]),  # as PyTorch has it
    ("sp.xlog1py(v, -3.0)", [0, 0]),
    ("sp.kl_div(0.0, v)", [1, 0, 0]),
    ("sp.rel_entr(0.0, v)", [0, 0, 0]),
    ("sp.rgamma(v)", [1, 2 * np.euler_gamma, 3 * np.euler_gamma**2 - np.pi**2 / 2]),
    ("sp.rgamma(v - 2)", [2, 4 * np.euler_gamma - 6]),
    ("sp.beta(v + 0.5, -0.5)", [-2 * np.pi, 8 * np.pi * np.log(2)]),
    ("sp.binom(v + 2, 4)", [-1 / 12, -1 / 12, 1 / 2]),
    ("sp.binom(3, v + 4)", [-1 / 4, 25 / 24]),
    ("sp.poch(v - 1, 3)", [-1, 0, 6]),
]


@pytest.mark.parametrize(("text", "derivatives"), AT_ZERO)
def test_derivatives_at_zero_to_third_order(text: str, derivatives: list[float]) -> None:
    derivative, _ = of_scipy(re.sub(r"\bv\b", "a", text))
    for wanted in derivatives:
        derivative = gs.grad(derivative)
        np.testing.assert_allclose(derivative(0.0), wanted, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
def test_cosine_transforms_of_other_precisions_have_gradients_of_those(dtype: Any) -> None:
    x = np.arange(1.0, 4.0).astype(dtype)
    value, pullback = gs.vjp(lambda x: fft.dct(x), x)
    assert value.dtype == fft.dct(x).dtype
    assert pullback(value)[0].dtype == dtype


class Tripled:
    """What computes transforms, and gives them three times."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method: Any, args: Any, kwargs: Any) -> Any:
        return getattr(np.fft, method.__name__)(*args, **kwargs) * 3.0


@pytest.mark.parametrize("how", [True, False, "auto"])
@pytest.mark.parametrize("name", ["fft", "fft2", "rfft"])
def test_another_backend_of_transforms_is_asked_for_at_each_call(name: str, how: Any) -> None:
    transform = getattr(fft, name)
    gradient = gs.grad(lambda x: np.sum(np.abs(transform(x))), compile=how)
    found = gradient(np.eye(3))
    with fft.set_backend(Tripled), pytest.raises(gs.errors.UnsupportedError, match="backend"):
        gradient(np.eye(3))
    with fft.set_backend("scipy", only=True):
        np.testing.assert_array_equal(gradient(np.eye(3)), found)
    np.testing.assert_array_equal(gradient(np.eye(3)), found)


def test_a_program_may_choose_scipys_own_transforms() -> None:
    def program(x: Any) -> Any:
        with fft.set_backend("scipy"), fft.set_workers(2):
            return np.sum(fft.dct(x) ** 2)

    gs.testing.check_grad(program, X)


def test_distributions_by_name_and_with_given_parameters() -> None:
    from scipy.stats import norm

    frozen = norm(1.0, 2.0)
    for function in (
        lambda x: np.sum(norm.logpdf(x, 1.0, 2.0)),
        lambda x: np.sum(norm(1.0, scale=2.0).logpdf(x)),
        lambda x: np.sum(frozen.logpdf(x)),
    ):
        np.testing.assert_allclose(gs.grad(function)(X), (1 - X) / 4)


@pytest.mark.parametrize("name", ["sqrtm", "logm"])
def test_of_a_real_matrix_with_a_complex_root_there_is_no_wrong_derivative(name: str) -> None:
    function = getattr(linalg, name)
    matrix = np.array([[-1.0, 0.5], [0.0, 2.0]])
    with pytest.raises(gs.errors.NoDerivativeError, match="give it a complex matrix"):
        gs.grad(lambda x: np.sum(np.abs(function(x))))(matrix)
    gs.testing.check_grad(lambda x: np.imag(function(x + 1j * np.eye(2))), matrix)


def test_there_are_no_residuals_of_as_many_unknowns_as_equations() -> None:
    wide = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 6.0]])

    def solved(x):
        solution, residuals, _, _ = linalg.lstsq(wide, x)
        return np.sum(solution**2) * (1 + residuals.size) + np.sum(residuals)

    gs.testing.check_grad(solved, np.array([1.2, -0.7]))
    assert gs.value_and_grad(solved)(np.ones(2))[0] == solved(np.ones(2))


@pytest.mark.parametrize("name", ["sqrtm", "logm", "fractional_matrix_power"])
def test_a_complex_root_of_a_real_matrix_is_not_taken_for_a_real_one(name: str) -> None:
    function = getattr(linalg, name)

    def by_kind(x):
        root = function(x, 0.5) if name == "fractional_matrix_power" else function(x)
        return np.sum(x) * (2 if np.iscomplexobj(root) else 3) + np.sum(root.imag) * 0

    np.testing.assert_array_equal(gs.grad(by_kind)(np.diag([1.5, 2.0])), np.full((2, 2), 3.0))
    with pytest.raises(gs.errors.NoDerivativeError, match="give it a complex matrix"):
        gs.grad(by_kind)(np.diag([-1.5, 2.0]))


@pytest.mark.parametrize(
    "text",
    ["sp.gammainc(a, v)", "sp.chdtr(3, v)", "sp.pdtr(2, v)", "sp.rgamma(v)", "sp.expn(0, v)"],
)
def test_at_infinity_a_limit_has_no_slope(text: str) -> None:
    function, _ = of_scipy(text.replace("a, ", "2.5, "))
    x = np.array([np.inf, 1.5])
    gradient = gs.grad(lambda x: np.sum(function(x)))(x)
    assert gradient[0] == 0 != gradient[1]


@pytest.mark.parametrize(
    ("text", "points", "first", "second"),
    [
        ("stats.genpareto.logpdf(0.5, a)", (0, 1e-9, -1e-5), -3 / 8, 1 / 6),
        ("stats.genpareto.pdf(0.5, a)", (0, 1e-9, 1e-5), -0.227448997, 0.186380706),
        ("stats.genextreme.logpdf(0.5, a)", (0, 1e-9, -1e-5), 0.450816332, 0.207734280),
        ("stats.genextreme.pdf(0.5, a)", (0, -1e-9, 1e-5), 0.149086899, 0.135909653),
        ("stats.genhalflogistic.logpdf(0.5, a)", (1e-9, 1e-5), 0.469385004, 0.222246084),
        ("stats.pearson3.logpdf(0.5, a)", (0, 1e-9, 1e-5, -1e-4), -11 / 48, 5 / 384),
        ("stats.bradford.logpdf(0.5, a)", (1e-9, 1e-6), 0, -1 / 6),
        ("stats.truncpareto.logpdf(1.5, a, 3.0)", (1e-9, 1e-6), 0.143841036, -0.100579),
        ("stats.argus.logpdf(0.5, a)", (1e-9, 1e-6), 0, -0.15),
        ("stats.boltzmann.logpmf(3, a, 7)", (1e-9, 1e-6), 0, -4),
        ("stats.logser.logpmf(1, a)", (1e-9, 1e-6), -1 / 2, -5 / 12),
    ],
)
def test_derivatives_by_a_shape_have_a_limit_at_zero(
    text: str, points: tuple[float, ...], first: float, second: float
) -> None:
    function, _ = of_scipy(text)
    slope = gs.grad(function)
    for point in map(float, points):
        np.testing.assert_allclose(slope(point), first, rtol=5e-5, atol=1e-5)
        np.testing.assert_allclose(gs.grad(slope)(point), second, rtol=1e-3)
    slopes = gs.grad(lambda x: np.sum(function(x)))
    curvatures = gs.grad(lambda x: np.sum(slopes(x)))(np.array(points, dtype=float))
    np.testing.assert_allclose(curvatures, second, rtol=1e-3)


@pytest.mark.parametrize(
    "text",
    [
        *(f"stats.{name}.logpdf(a, 0.5)" for name in "weibull_min exponpow invweibull".split()),
        *(f"stats.{name}.logpdf(a, 0.5)" for name in "halfgennorm fisk kappa3".split()),
        *(f"stats.{name}.logpdf(a, 0.5, 0.5)" for name in "gengamma exponweib burr".split()),
        *(f"stats.{name}.logpdf(a, 0.5, 0.5)" for name in "burr12 mielke".split()),
        "stats.weibull_max.logpdf(-a, 0.5)",
    ],
)
def test_below_the_support_derivatives_by_floats_of_python_are_real(text: str) -> None:
    function, _ = of_scipy(text)
    found = gs.grad(function)(-1.0)
    assert found == 0
    assert not np.iscomplexobj(found)


def test_outside_of_the_support_a_density_does_not_change() -> None:
    x = np.array([-1.0, 0.5, 2.0])
    assert gs.grad(lambda x: np.sum(stats.beta.pdf(x, 2.0, 3.0)))(x)[::2].tolist() == [0.0, 0.0]
    assert gs.grad(lambda x: np.sum(stats.gamma.pdf(x, 2.0)))(x)[0] == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "stats.expon.logcdf(v)",
        "stats.expon.logsf(v)",
        "stats.uniform.logcdf(v)",
        "stats.gamma.logcdf(v, 2.5)",
        "stats.weibull_min.logcdf(v, a)",
        "stats.weibull_min.logpdf(v, a)",
        "stats.weibull_min.cdf(v, a)",
        "stats.lognorm.logcdf(v, a)",
        "stats.lognorm.logsf(v, a)",
        "stats.pareto.logcdf(v, a)",
        "stats.bernoulli.logcdf(v, a)",
        "stats.poisson.logcdf(v, a)",
        "stats.poisson.logpmf(v, a)",
    ],
)
def test_below_the_support_no_derivative_is_nan(text: str) -> None:
    function, names = of_scipy(text)
    x, shape = np.array([-3.0, -0.5]), 0.7
    arguments = {"v": x, "a": shape}
    _, pullback = gs.vjp(function, *(arguments[name] for name in names))
    for gradient in pullback(np.ones(2)):
        assert np.all(gradient == 0)


def test_numbers_and_weights_of_a_sum_of_exponentials_vary_together() -> None:
    weights = np.array([0.5, 1.5, 1.0])
    gs.testing.check_grad(lambda a, b: special.logsumexp(a, b=b), X, weights, order=1)


def test_a_function_of_scipy_on_tensors_is_one_node() -> None:
    x = gs.tensor(np.eye(2), requires_grad=True)
    y = gs.differentiable(linalg.expm)(x)
    assert "ExpmBackward" in repr(y)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.e)


def test_a_gradient_names_the_functions_by_their_module() -> None:
    found = gs.differentiable(lambda x: np.sum(special.gammaln(x))).specialize(X)
    assert "scipy.special.psi(x)" in found.gradient_source
    found = gs.differentiable(lambda x: np.sum(stats.norm.cdf(x))).specialize(X)
    assert "scipy.stats.norm.pdf(x)" in found.gradient_source


def test_the_real_form_of_complex_eigenvalues_has_no_wrong_derivative() -> None:
    rotation = np.array([[0.0, -1.0], [1.0, 0.5]])
    for differentiated in (gs.jacrev, gs.jacfwd):
        with pytest.raises(gs.errors.NoDerivativeError, match="output='complex'"):
            differentiated(lambda x: linalg.schur(x)[0])(rotation)
    gs.testing.check_grad(
        lambda x: np.abs(linalg.schur(x, "complex")[0]), rotation, modes=("reverse",)
    )


HELD = {
    "norm": lambda: stats.norm(0.5, 2.0),
    "multivariate_normal": lambda: stats.multivariate_normal(X, np.eye(3) + 0.3),
    "multivariate_t": lambda: stats.multivariate_t(X, np.eye(3) + 0.3, df=3),
    "dirichlet": lambda: stats.dirichlet(np.array([1.0, 2.0, 3.0])),
}


@pytest.mark.parametrize("make", HELD.values(), ids=HELD)
def test_distributions_with_parameters_may_be_made_outside(make: Any) -> None:
    distribution = make()
    gs.testing.check_grad(lambda x: np.sum(distribution.logpdf(x / np.sum(x))), X)


def test_matrices_and_counts_of_distributions_that_are_made_outside() -> None:
    matrices, counts = stats.wishart(4, np.eye(3) + 0.3), stats.multinomial(3, X / np.sum(X))
    gs.testing.check_grad(lambda x: matrices.logpdf(np.outer(x, x) + np.eye(3)), X)
    assert gs.grad(lambda x: x * counts.logpmf([1, 0, 2]))(2.0) == counts.logpmf([1, 0, 2])


def test_the_median_of_a_distribution_has_a_derivative() -> None:
    gs.testing.check_grad(lambda x: stats.norm(x[0], x[1]).median() * x[2], X)


@pytest.mark.parametrize("of", [{"rtol": 0.5}, {"atol": 0.1, "rtol": 0.4}, {"atol": 1.2}])
def test_eigenvalues_below_what_a_pseudoinverse_is_told_are_zero(of: Any) -> None:
    def of_inverse(x: Any) -> Any:
        inverse, rank = linalg.pinvh(np.diag(x), return_rank=True, **of)
        return np.sum(inverse) * rank

    x = np.array([3.0, 1.0, -2.0])
    value, gradient = gs.value_and_grad(of_inverse)(x)
    assert value == of_inverse(x)
    np.testing.assert_allclose(gradient, [-2 / 9, 0, -1 / 2], atol=1e-12)
