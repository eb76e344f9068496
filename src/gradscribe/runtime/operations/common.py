"""The table of eager operations: PyTorch's and NumPy's names, each with its NumPy callee.

A line gives the public name, the function that the compiler differentiates, and the stem of the
node's name. The functions are `gs.name(x, ...)`; `methods.py` attaches them to Tensor, too.
Below the table stand the functions whose arguments need more than a spelling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites, dtypes
from gradscribe.runtime.arrays.floating_point_errors import silent, tell_of_imaginary_part
from gradscribe.runtime.arrays.memory_formats import arranged, laid_out_as, preserve_format
from gradscribe.runtime.operations.adaptors import (
    along,
    axes_of,
    binary,
    deviation,
    deviation_with_mean,
    enter_row,
    of_bytes,
    quotient,
    reduction,
    scaled,
    smooth,
    unary,
)
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.launcher_text import BINARY
from gradscribe.runtime.operations.launching import ROWS
from gradscribe.runtime.operations.shaping import permute, reshape
from gradscribe.runtime.tensors.agreement import (
    refuse_booleans,
    refuse_unlike_factors,
    refuse_unlike_inputs,
)
from gradscribe.runtime.tensors.promotion import (
    alike,
    averageable,
    divisible_arrays,
    floating,
    only_floating,
    promoted,
    result_dtype,
    summable,
)
from gradscribe.runtime.tensors.tensor import Tensor, rank_of, wrap

# fmt: off
__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "all", "amax", "amin", "any", "arccos", "arccosh",
    "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "asin", "asinh",
    "atan", "atan2", "atanh", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "bmm", "ceil", "clamp", "clamp_max", "clamp_min",
    "clip", "clone", "copysign", "cos", "cosh", "count_nonzero", "cumprod", "cumsum", "deg2rad",
    "degrees", "div", "divide", "dot", "eq", "exp", "exp2", "expm1", "fix", "float_power",
    "floor", "floor_divide", "fmax", "fmin", "fmod", "frac", "gcd", "ge", "ger", "greater",
    "greater_equal", "gt", "hypot", "inner", "isfinite", "isinf", "isnan",
    "isneginf", "isposinf", "isreal", "lcm", "le", "less", "less_equal", "log", "log1p", "log2",
    "log10", "log_softmax", "logaddexp", "logaddexp2", "logcumsumexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logit", "logsigmoid", "logsumexp", "lt",
    "matmul", "maximum", "mean", "minimum", "mm", "mod", "mul", "multiply", "mv", "nan_to_num",
    "nanmean", "nansum", "ne", "neg", "negative", "nextafter", "norm", "not_equal", "outer",
    "positive", "pow", "power", "prod", "rad2deg", "radians", "reciprocal", "relu", "remainder",
    "rint", "round", "rsqrt", "rsub", "sgn", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh",
    "softmax", "softplus", "sqrt", "square", "std", "std_mean", "sub", "subtract", "sum", "tan",
    "tanh", "true_divide", "trunc", "var", "var_mean", "vdot", "where", "xlogy",
]
# fmt: on

# --- elementwise ------------------------------------------------------------------------------

neg = negative = unary("neg", np.negative, "Neg")
enter_row(Operation("Positive", np.positive))
abs = absolute = unary("abs", np.absolute, "Abs")
exp = smooth("exp", np.exp, "Exp")
exp2 = smooth("exp2", np.exp2, "Exp2")
expm1 = smooth("expm1", np.expm1, "Expm1")
log = smooth("log", np.log, "Log")
log2 = smooth("log2", np.log2, "Log2")
log10 = smooth("log10", np.log10, "Log10")
log1p = smooth("log1p", np.log1p, "Log1P")
sqrt = smooth("sqrt", np.sqrt, "Sqrt")
rsqrt = smooth("rsqrt", composites.rsqrt, "Rsqrt")
square = unary("square", np.square, "Square")
reciprocal = smooth("reciprocal", np.reciprocal, "Reciprocal")
sin = smooth("sin", np.sin, "Sin")
cos = smooth("cos", np.cos, "Cos")
tan = smooth("tan", np.tan, "Tan")
asin = arcsin = smooth("asin", np.arcsin, "Asin")
acos = arccos = smooth("acos", np.arccos, "Acos")
atan = arctan = smooth("atan", np.arctan, "Atan")
sinh = smooth("sinh", np.sinh, "Sinh")
cosh = smooth("cosh", np.cosh, "Cosh")
tanh = smooth("tanh", np.tanh, "Tanh")
asinh = arcsinh = smooth("asinh", np.arcsinh, "Asinh")
acosh = arccosh = smooth("acosh", np.arccosh, "Acosh")
atanh = arctanh = smooth("atanh", np.arctanh, "Atanh")
sinc = smooth("sinc", np.sinc, "Sinc")
frac = unary("frac", composites.frac, "Frac")
sign = unary("sign", composites.sign, "Sign", run=composites.sign_of_any)
sgn = unary("sgn", composites.sign, "Sgn", run=composites.sign_of_any)
floor = unary("floor", np.floor, "Floor")
ceil = unary("ceil", np.ceil, "Ceil")
trunc = fix = unary("trunc", np.trunc, "Trunc")
rint = unary("rint", np.rint, "Round")
deg2rad = radians = smooth("deg2rad", np.deg2rad, "Deg2Rad")
rad2deg = degrees = smooth("rad2deg", np.rad2deg, "Rad2Deg")
sigmoid = smooth("sigmoid", composites.sigmoid, "Sigmoid")
logsigmoid = unary("logsigmoid", composites.logsigmoid, "LogSigmoid")
relu = unary("relu", composites.relu, "Relu")
softplus = unary("softplus", composites.softplus, "Softplus")

add = scaled("add", np.add, "Add")
sub = subtract = scaled("sub", np.subtract, "Sub", refuse_booleans)
mul = multiply = binary("mul", np.multiply, "Mul", wraps_numbers=True)
true_divide = quotient("div", np.true_divide, "Div", wraps_numbers=True)
pow = power = binary("pow", np.power, "Pow")
remainder = mod = binary("remainder", np.remainder, "Remainder")
fmod = binary("fmod", np.fmod, "Fmod")
maximum = binary("maximum", np.maximum, "Maximum")
minimum = binary("minimum", np.minimum, "Minimum")
fmax = binary("fmax", np.fmax, "Fmax")
fmin = binary("fmin", np.fmin, "Fmin")
atan2 = arctan2 = quotient("atan2", np.arctan2, "Atan2")
hypot = quotient("hypot", np.hypot, "Hypot")
copysign = quotient("copysign", np.copysign, "Copysign")
logaddexp = quotient("logaddexp", np.logaddexp, "Logaddexp")
logaddexp2 = quotient("logaddexp2", np.logaddexp2, "Logaddexp2")
float_power = quotient("float_power", np.float_power, "Pow")
xlogy = quotient("xlogy", composites.xlogy, "Xlogy", divisible_arrays)
nextafter = binary("nextafter", np.nextafter, "Nextafter")
gcd = binary("gcd", np.gcd, "Gcd", differentiable=False)
lcm = binary("lcm", np.lcm, "Lcm", differentiable=False)
_WHOLE_TIMES = Operation("DivTrunc", composites.whole_times, differentiable=False)
floor_divide = binary("floor_divide", np.floor_divide, "FloorDivide")

eq = binary("eq", np.equal, "Eq", differentiable=False)
ne = not_equal = binary("ne", np.not_equal, "Ne", differentiable=False)
lt = less = binary("lt", np.less, "Lt", differentiable=False)
le = less_equal = binary("le", np.less_equal, "Le", differentiable=False)
gt = greater = binary("gt", np.greater, "Gt", differentiable=False)
ge = greater_equal = binary("ge", np.greater_equal, "Ge", differentiable=False)
logical_and = binary("logical_and", np.logical_and, "LogicalAnd", differentiable=False)
logical_or = binary("logical_or", np.logical_or, "LogicalOr", differentiable=False)
logical_xor = binary("logical_xor", np.logical_xor, "LogicalXor", differentiable=False)
logical_not = unary("logical_not", np.logical_not, "LogicalNot", differentiable=False)
bitwise_and = binary("bitwise_and", np.bitwise_and, "And", differentiable=False)
bitwise_or = binary("bitwise_or", np.bitwise_or, "Or", differentiable=False)
bitwise_xor = binary("bitwise_xor", np.bitwise_xor, "Xor", differentiable=False)
bitwise_not = unary("bitwise_not", np.invert, "Not", differentiable=False)
bitwise_left_shift = binary("bitwise_left_shift", np.left_shift, "Lshift", differentiable=False)
bitwise_right_shift = binary("bitwise_right_shift", np.right_shift, "Rshift", differentiable=False)
isposinf = unary("isposinf", np.isposinf, "Isposinf", differentiable=False)
isneginf = unary("isneginf", np.isneginf, "Isneginf", differentiable=False)
isreal = unary("isreal", np.isreal, "Isreal", differentiable=False)
isnan = unary("isnan", np.isnan, "Isnan", differentiable=False)
isinf = unary("isinf", np.isinf, "Isinf", differentiable=False)
isfinite = unary("isfinite", np.isfinite, "Isfinite", differentiable=False)
signbit = unary("signbit", np.signbit, "Signbit", differentiable=False)

# --- reductions -------------------------------------------------------------------------------

enter_row(Operation("Max", np.max))
enter_row(Operation("Min", np.min))
MAX = Operation("Max", composites.greatest, run=np.max)
MIN = Operation("Min", composites.least, run=np.min)
sum = reduction("sum", np.sum, "Sum", summable)
mean = reduction("mean", np.mean, "Mean", averageable)
prod = reduction("prod", np.prod, "Prod", summable)
amax = reduction("amax", np.max, "Amax")
amin = reduction("amin", np.min, "Amin")
nansum = reduction("nansum", np.nansum, "Nansum", summable)
nanmean = reduction("nanmean", np.nanmean, "Nanmean", averageable)
var = deviation("var", np.var, "Var")
std = deviation("std", np.std, "Std")
var_mean = deviation_with_mean("var_mean", composites.var_mean)
std_mean = deviation_with_mean("std_mean", composites.std_mean)
logsumexp = reduction("logsumexp", composites.logsumexp, "Logsumexp", floating)
all = of_bytes(reduction("all", np.all, "All", differentiable=False))
any = of_bytes(reduction("any", np.any, "Any", differentiable=False))
argmax = reduction("argmax", np.argmax, "Argmax", differentiable=False)
argmin = reduction("argmin", np.argmin, "Argmin", differentiable=False)
count_nonzero = reduction("count_nonzero", np.count_nonzero, "CountNonzero", differentiable=False)
cumsum = along("cumsum", np.cumsum, "Cumsum", summable)
cumprod = along("cumprod", np.cumprod, "Cumprod", summable)
logcumsumexp = along("logcumsumexp", composites.logcumsumexp, "Logcumsumexp", floating)
softmax = along("softmax", composites.softmax, "Softmax")
log_softmax = along("log_softmax", composites.log_softmax, "LogSoftmax")

# --- linear algebra ---------------------------------------------------------------------------

dot = binary("dot", np.dot, "Dot", refuse_unlike_factors)
inner = binary("inner", np.inner, "Dot", refuse_unlike_inputs)
vdot = binary("vdot", np.vdot, "Vdot", refuse_unlike_factors)
enter_row(Operation("Outer", np.outer))

_MATMULS = {
    (2, 2): Operation("Mm", np.matmul),
    (2, 1): Operation("Mv", np.matmul),
    (1, 1): Operation("Dot", np.matmul),
    (3, 3): Operation("Bmm", np.matmul),
}
_MATMUL = enter_row(Operation("Matmul", np.matmul))


def matmul(input: Any, other: Any) -> Tensor:
    """The matrix product, by NumPy's rules for one, two and more axes."""
    refuse_unlike_factors(input, other)
    return apply(_MATMULS.get((rank_of(input), rank_of(other)), _MATMUL), (input, other))


def outer(input: Any, vec2: Any) -> Tensor:
    """The products of all pairs of elements of two vectors."""
    for name, vector in (("self", input), ("vec2", vec2)):
        if rank_of(vector) != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {rank_of(vector)}-D")
    return mul(reshape(input, (-1, 1)), vec2)


ger = outer
ROWS[matmul] = BINARY, _MATMUL


def check_matrices(first: Any, second: Any) -> None:
    """Raise PyTorch's error for what cannot be multiplied as two matrices."""
    if rank_of(first) != 2:
        raise RuntimeError("self must be a matrix")
    if rank_of(second) != 2:
        raise RuntimeError("mat2 must be a matrix")
    (rows, inner), (inner_2, columns) = first.array.shape, second.array.shape
    if inner != inner_2:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {inner_2}x{columns})"
        )


def mm(input: Any, mat2: Any) -> Tensor:
    """The product of two matrices."""
    check_matrices(input, mat2)
    refuse_unlike_factors(input, mat2)
    return apply(_MATMULS[2, 2], (input, mat2))


def mv(input: Any, vec: Any) -> Tensor:
    """The product of a matrix and a vector."""
    ranks = rank_of(input), rank_of(vec)
    if ranks != (2, 1):
        first = ranks[0] - 1 if ranks[0] == 2 else 1
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {first}, {ranks[0]}, {ranks[1]}"
        )
    refuse_unlike_factors(input, vec)
    return apply(_MATMULS[2, 1], (input, vec))


def bmm(input: Any, mat2: Any) -> Tensor:
    """The products of two stacks of matrices."""
    for name, operand in (("batch1", input), ("batch2", mat2)):
        if rank_of(operand) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    refuse_unlike_factors(input, mat2)
    return apply(_MATMULS[3, 3], (input, mat2))


# --- the rest ---------------------------------------------------------------------------------

_CLONE = enter_row(Operation("Clone", composites.clone))
_WHERE = enter_row(Operation("Where", np.where, wraps_numbers=True))
_CLAMP = Operation("Clamp", np.clip, ("min", "max"), run=np.clip)
_CLAMP_BY_TENSORS = Operation("Clamp", np.clip)
_CLAMP_BY_MIN = Operation("Clamp", composites.at_least, run=np.maximum)
_CLAMP_BY_MAX = Operation("Clamp", composites.at_most, run=np.minimum)
_AT_LEAST = Operation("ClampMin", composites.at_least, run=np.maximum)
_AT_MOST = Operation("ClampMax", composites.at_most, run=np.minimum)
_FLOORED = Operation("DivMode", np.floor_divide, wraps_numbers=True)
_TRUNCATED = Operation("DivMode", composites.truncated_quotient, wraps_numbers=True)
_NORM = Operation("LinalgVectorNorm", np.linalg.norm, ("ord", "axis", "keepdims"))
_ROUND = enter_row(Operation("Round", np.round, ("decimals",)))
_LOGIT = Operation("Logit", composites.logit, ("eps",))
_NAN_TO_NUM = Operation("NanToNum", np.nan_to_num, ("nan", "posinf", "neginf"))
_TO_COPY = Operation("ToCopy", composites.to_dtype, ("dtype",))


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Elements of input where the condition holds, else of other."""
    if input is None:
        return tuple(wrap(index) for index in np.nonzero(_plain(condition)))
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        dtype = result_dtype(input, other)
        input, other = np.asarray(input, dtype), np.asarray(other, dtype)
    return apply(_WHERE, (_plain(condition), *promoted(input, other)))


def positive(input: Tensor) -> Tensor:
    """The Tensor itself."""
    if input.array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def clone(input: Any, *, memory_format: Any = None) -> Tensor:
    """A copy."""
    copy = apply(_CLONE, (input,))
    if memory_format is not None and memory_format is not preserve_format:
        copy.array = arranged(copy.array, memory_format)
    elif isinstance(input, Tensor):
        copy.array = laid_out_as(input.array, copy.array)
    return copy


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """The quotient. rounding_mode: "floor" or "trunc" for a whole number of times."""
    if rounding_mode is None:
        return true_divide(input, other)
    if rounding_mode == "floor":
        return apply(_FLOORED, promoted(input, other))
    if rounding_mode != "trunc":
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    if result_dtype(input, other).kind in "iu":
        return apply(_WHOLE_TIMES, promoted(input, other))
    return apply(_TRUNCATED, promoted(input, other))


ROWS[div] = ROWS[true_divide]


divide = div


def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """other - alpha * input."""
    return sub(other, input, alpha=alpha)


def clamp(input: Any, min: Any = None, max: Any = None) -> Tensor:
    """The elements limited to [min, max]; numbers, Tensors or None."""
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        if min is None:
            return apply(_CLAMP_BY_MAX, alike((input, max)))
        if max is None:
            return apply(_CLAMP_BY_MIN, alike((input, min)))
        return apply(_CLAMP_BY_TENSORS, alike((input, min, max)))
    if isinstance(min, float) or isinstance(max, float):
        input = floating(input)
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return apply(_CLAMP, (input,), (min, max))


clip = clamp


def clamp_min(input: Any, min: Any) -> Tensor:
    """The elements, but min at least."""
    return apply(_AT_LEAST, _bounded(input, min))


def clamp_max(input: Any, max: Any) -> Tensor:
    """The elements, but max at most."""
    return apply(_AT_MOST, _bounded(input, max))


def _bounded(input: Any, bound: Any) -> Sequence[Any]:
    """A Tensor and its bound, of one dtype."""
    if not isinstance(bound, Tensor):
        return (floating(input) if isinstance(bound, float) else input), bound
    operands: Sequence[Any] = alike((input, bound))
    return operands


def logit(input: Any, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), x first limited to [eps, 1 - eps]."""
    return apply(_LOGIT, (floating(input),), (eps,))


def nan_to_num(
    input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """The elements, with numbers in place of NaN and infinities."""
    return apply(_NAN_TO_NUM, (input,), (0.0 if nan is None else nan, posinf, neginf))


def norm(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """The p-norm of the elements, along the named axes or of all."""
    input = only_floating(
        input,
        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}",
    )
    input = input if dtype is None else to_dtype(input, dtype)
    axis = axes_of(input, dim)
    keepdim = keepdim and input.array.ndim > 0
    if p in (2, "fro", None):
        return apply(_NORM, (input,), (None, axis, keepdim))
    if p in (math.inf, -math.inf):
        return (amax if p > 0 else amin)(abs(input), dim, keepdim)
    if axis is None and p != "nuc":
        whole = apply(_NORM, (reshape(input, -1),), (p, 0, False))
        return reshape(whole, (1,) * input.array.ndim) if keepdim else whole
    if p == "nuc" or not isinstance(axis, tuple):
        return apply(_NORM, (input,), (p, axis, keepdim))
    rank = input.array.ndim
    kept = tuple(a for a in range(rank) if a not in axis and a - rank not in axis)
    lengths = tuple(input.array.shape[a] for a in kept)
    rows = reshape(permute(input, (*kept, *axis)), (*lengths, -1))
    result = apply(_NORM, (rows,), (p, len(kept), False))
    shape = tuple(n if a in kept else 1 for a, n in enumerate(input.array.shape))
    return reshape(result, shape) if keepdim else result


def round(input: Any, *, decimals: int = 0) -> Tensor:
    """Rounded to so many decimals."""
    return apply(_ROUND, (input,), (decimals,))


@silent
def to_dtype(input: Tensor, dtype: Any) -> Tensor:
    """The elements converted to a dtype; the Tensor itself if it has that already."""
    dtype = dtypes.to_dtype(dtype)
    if input.array.dtype == dtype:
        return input
    if input.array.dtype.kind == "c" and dtype.kind not in "cb":
        tell_of_imaginary_part()
        input = input.real
    if not dtypes.is_differentiable(dtype):
        return wrap(input.array.astype(dtype))
    return apply(_TO_COPY, (input,), (dtype,))


def _plain(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value
