"""The table of eager operations, element by element: PyTorch's and NumPy's names, each with its
meaning and the NumPy function that the compiler differentiates.

A line is a whole operation: the function `gs.name`, the methods `x.name` and `x.name_`, `out=`,
other names, the docstring, the name of its node and what that tells of what it keeps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites
from gradscribe.runtime.arrays.explaining import bitwise, inverting, not_of_booleans
from gradscribe.runtime.arrays.node_names import of_tensor, power
from gradscribe.runtime.arrays.operand_checks import (
    divisor,
    not_clamped,
    not_complex,
    not_implemented,
    not_of_sign,
    only_floating,
)
from gradscribe.runtime.arrays.rows import (
    BOTH,
    CAST,
    FUNCTION,
    IN_PLACE,
    IN_PLACE_FUNCTION,
    MAIN,
    OUT,
)
from gradscribe.runtime.operations.adaptors import (
    binary,
    enter_row,
    quotient,
    scaled,
    smooth,
    unary,
)
from gradscribe.runtime.operations.eager import Operation
from gradscribe.runtime.tensors.agreement import refuse_booleans
from gradscribe.runtime.tensors.promotion import divisible_arrays

_SELF, _RESULT, _PAIR = ("self=0",), ("result",), ("self=0 other=1",)


def _rounding(name: str) -> Operation:
    """The operation of a ufunc that rounds."""
    message = f"{name} is not supported for complex inputs"
    check = not_complex(NotImplementedError, message)
    return Operation(name.title(), getattr(np, name), check=check)


def _extreme(name: str, from_operands: bool = False) -> Operation:
    """The operation of a ufunc that takes the greater or the lesser of two."""
    check = not_complex(RuntimeError, f"{name} not implemented for complex tensors.")
    function = getattr(np, name)
    return Operation(name.title(), function, check=check, saved=_PAIR, from_operands=from_operands)


# --- of one operand ---------------------------------------------------------------------------

_NO_NEGATIVE = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
    "invert a mask, use the `~` or `logical_not()` operator instead."
)
_NEG = Operation("Neg", np.negative, explain=not_of_booleans(_NO_NEGATIVE))
_SIGN = Operation("Sign", composites.sign, run=composites.sign_of_any, check=not_of_sign)

neg = unary("neg", "-x", _NEG, aliases=("negative",))
enter_row(Operation("Positive", np.positive))
abs = unary("abs", "|x|", Operation("Abs", np.absolute, saved=_SELF))
MAIN.also("absolute", abs, BOTH | IN_PLACE | OUT)
exp = smooth("exp", "e^x", Operation("Exp", np.exp, saved=_RESULT))
exp2 = smooth("exp2", "2^x", Operation("Exp2", np.exp2, saved=_RESULT))
expm1 = smooth("expm1", "e^x - 1", Operation("Expm1", np.expm1, saved=_RESULT))
log = smooth("log", "ln x", Operation("Log", np.log, saved=_SELF))
log2 = smooth("log2", "log2 x", Operation("Log2", np.log2, saved=_SELF))
log10 = smooth("log10", "log10 x", Operation("Log10", np.log10, saved=_SELF))
log1p = smooth("log1p", "ln(1 + x)", Operation("Log1P", np.log1p, saved=_SELF))
sqrt = smooth("sqrt", "√x", Operation("Sqrt", np.sqrt, saved=_RESULT))
rsqrt = smooth("rsqrt", "1 / √x", Operation("Rsqrt", composites.rsqrt, saved=_RESULT))
square = unary(
    "square", "x²", Operation("Square", np.square, node="Pow", saved=("self=0 exponent!2",))
)
reciprocal = smooth("reciprocal", "1 / x", Operation("Reciprocal", np.reciprocal, saved=_RESULT))
sin = smooth("sin", "sin x", Operation("Sin", np.sin, saved=_SELF))
cos = smooth("cos", "cos x", Operation("Cos", np.cos, saved=_SELF))
tan = smooth("tan", "tan x", Operation("Tan", np.tan, saved=_RESULT))
asin = smooth("asin", "arcsin x", Operation("Asin", np.arcsin, saved=_SELF), aliases=("arcsin",))
acos = smooth("acos", "arccos x", Operation("Acos", np.arccos, saved=_SELF), aliases=("arccos",))
atan = smooth("atan", "arctan x", Operation("Atan", np.arctan, saved=_SELF), aliases=("arctan",))
sinh = smooth("sinh", "sinh x", Operation("Sinh", np.sinh, saved=_SELF))
cosh = smooth("cosh", "cosh x", Operation("Cosh", np.cosh, saved=_SELF))
tanh = smooth("tanh", "tanh x", Operation("Tanh", np.tanh, saved=_RESULT))
asinh = smooth(
    "asinh",
    "arsinh x",
    Operation("Asinh", np.arcsinh, saved=_SELF, in_place=1),
    aliases=("arcsinh",),
)
acosh = smooth(
    "acosh", "arcosh x", Operation("Acosh", np.arccosh, saved=_SELF), aliases=("arccosh",)
)
atanh = smooth(
    "atanh",
    "artanh x",
    Operation("Atanh", np.arctanh, saved=_SELF, in_place=1),
    aliases=("arctanh",),
)
sinc = smooth(
    "sinc",
    "sin(πx) / (πx), and 1 at 0",
    Operation("Sinc", np.sinc, saved=_SELF, from_operands=True),
)
frac = unary(
    "frac", "x - trunc(x)", Operation("Frac", composites.frac, check=only_floating("frac"))
)
sign = unary("sign", "-1, 0 or 1, as x is below, at or above 0", _SIGN, BOTH | IN_PLACE | OUT)
sgn = unary(
    "sgn",
    "x / |x|, and 0 at 0",
    Operation("Sgn", composites.sign, run=composites.sign_of_any),
    BOTH | IN_PLACE | OUT,
)
floor = unary("floor", "⌊x⌋", _rounding("floor"))
ceil = unary("ceil", "⌈x⌉", _rounding("ceil"))
trunc = unary("trunc", "x without its fraction", _rounding("trunc"), aliases=("fix",))
rint = unary(
    "rint",
    "The nearest integer, of two the even one",
    Operation("Round", np.rint, check=not_implemented("round")),
    BOTH,
)
deg2rad = smooth("deg2rad", "πx / 180", Operation("Deg2Rad", np.deg2rad), numpy_names=("radians",))
rad2deg = smooth("rad2deg", "180x / π", Operation("Rad2Deg", np.rad2deg), numpy_names=("degrees",))
sigmoid = smooth(
    "sigmoid", "1 / (1 + e^-x)", Operation("Sigmoid", composites.sigmoid, saved=_RESULT)
)
logsigmoid = unary(
    "logsigmoid", "-ln(1 + e^-x)", Operation("LogSigmoid", composites.logsigmoid), FUNCTION
)
relu = unary(
    "relu",
    "max(x, 0)",
    Operation("Relu", composites.relu, saved=_RESULT, check=not_clamped),
    BOTH | IN_PLACE | IN_PLACE_FUNCTION,
)
softplus = unary(
    "softplus",
    "ln(1 + e^x)",
    Operation("Softplus", composites.softplus, from_operands=True),
    FUNCTION,
)

# --- of two operands --------------------------------------------------------------------------

_NO_DIFFERENCE = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead."
)
_ALPHA = ("alpha!1",)
_ADD = Operation("Add", np.add, saved=_ALPHA, wraps_numbers=True, commutes=True)
_SUB = Operation(
    "Sub",
    np.subtract,
    saved=_ALPHA * 2,
    wraps_numbers=True,
    reflected="Rsub",
    number=of_tensor(0, 0),
    explain=not_of_booleans(_NO_DIFFERENCE),
)
MUL = Operation("Mul", np.multiply, saved=("self=0? other=1?",), wraps_numbers=True, commutes=True)
_DIV = Operation(
    "Div",
    np.true_divide,
    saved=("self=0? other=1",),
    wraps_numbers=True,
    from_operands=True,
)
_POWERS = ("self=0 exponent=1", "self=0 exponent=1 result", "self=0 exponent=1 result")
_REMAINDERS = ("", "self=0 other=1")
_COPYSIGN = Operation("Copysign", np.copysign, number=of_tensor(1, 0), saved=("self=0 result",) * 2)

add = scaled("add", "x + alpha * y", _ADD)
sub = scaled("sub", "x - alpha * y", _SUB, refuse_booleans, aliases=("subtract",))
mul = binary("mul", "x * y", MUL, aliases=("multiply",))
true_divide = quotient("true_divide", "x / y", _DIV)
pow = binary(
    "pow",
    "x^y",
    Operation("Pow", np.power, number=power, saved=_POWERS),
    numpy_names=("power",),
)
remainder = binary(
    "remainder",
    "x - y * ⌊x / y⌋",
    Operation("Remainder", np.remainder, number=of_tensor(1), saved=_REMAINDERS, check=divisor()),
    numpy_names=("mod",),
)
fmod = binary(
    "fmod",
    "x - y * trunc(x / y)",
    Operation("Fmod", np.fmod, number=of_tensor(1), saved=_REMAINDERS, check=divisor()),
)
maximum = binary(
    "maximum", "The greater of x and y, NaN where one is", _extreme("maximum"), BOTH | OUT
)
minimum = binary(
    "minimum", "The lesser of x and y, NaN where one is", _extreme("minimum"), BOTH | OUT
)
fmax = binary(
    "fmax", "The greater of x and y, the other where one is NaN", _extreme("fmax", True), BOTH | OUT
)
fmin = binary(
    "fmin", "The lesser of x and y, the other where one is NaN", _extreme("fmin", True), BOTH | OUT
)
atan2 = quotient(
    "atan2",
    "The angle of the point (y, x) to the first axis",
    Operation("Atan2", np.arctan2, saved=_PAIR),
    aliases=("arctan2",),
)
hypot = quotient(
    "hypot", "√(x² + y²)", Operation("Hypot", np.hypot, saved=("self=0 other=1 result",))
)
copysign = quotient("copysign", "|x| with the sign of y", _COPYSIGN)
logaddexp = quotient(
    "logaddexp",
    "ln(e^x + e^y)",
    Operation("Logaddexp", np.logaddexp, saved=_PAIR, from_operands=True),
    BOTH | OUT,
)
logaddexp2 = quotient(
    "logaddexp2",
    "log2(2^x + 2^y)",
    Operation("Logaddexp2", np.logaddexp2, saved=_PAIR),
    BOTH | OUT,
)
float_power = quotient(
    "float_power",
    "x^y in double precision",
    Operation("Pow", np.float_power, number=power, saved=_POWERS),
)
xlogy = quotient(
    "xlogy",
    "x ln y, and 0 where x is 0",
    Operation("Xlogy", composites.xlogy, saved=_PAIR),
    BOTH | IN_PLACE | IN_PLACE_FUNCTION | OUT,
    prepared=divisible_arrays,
)
nextafter = binary(
    "nextafter", "The next number after x towards y", Operation("Nextafter", np.nextafter)
)
floor_divide = binary(
    "floor_divide",
    "⌊x / y⌋",
    Operation("FloorDivide", np.floor_divide, check=divisor(not_implemented("floor_divide"))),
)

# --- of integers and truth values -------------------------------------------------------------


def _not_differentiable(name: str, callee: Any, **others: Any) -> Operation:
    return Operation(name, callee, differentiable=False, **others)


def _ordering(name: str, callee: Any) -> Operation:
    """The operation of a comparison, which complex numbers do not have."""
    return _not_differentiable(name, callee, check=not_implemented(name.lower()))


_COMPARED = BOTH | CAST | OUT
_OF_INTEGERS = "integer, that which those of the operands promote to"

gcd = binary(
    "gcd",
    "The greatest common divisor of x and y",
    _not_differentiable("Gcd", np.gcd),
    BOTH | IN_PLACE | IN_PLACE_FUNCTION | OUT,
    dtypes=_OF_INTEGERS,
)
lcm = binary(
    "lcm",
    "The least common multiple of x and y",
    _not_differentiable("Lcm", np.lcm),
    BOTH | IN_PLACE | IN_PLACE_FUNCTION | OUT,
    dtypes=_OF_INTEGERS,
)
eq = binary("eq", "Whether x = y", _not_differentiable("Eq", np.equal), _COMPARED)
ne = binary(
    "ne",
    "Whether x ≠ y",
    _not_differentiable("Ne", np.not_equal),
    _COMPARED,
    aliases=("not_equal",),
)
lt = binary("lt", "Whether x < y", _ordering("Lt", np.less), _COMPARED, aliases=("less",))
le = binary(
    "le", "Whether x ≤ y", _ordering("Le", np.less_equal), _COMPARED, aliases=("less_equal",)
)
gt = binary("gt", "Whether x > y", _ordering("Gt", np.greater), _COMPARED, aliases=("greater",))
ge = binary(
    "ge", "Whether x ≥ y", _ordering("Ge", np.greater_equal), _COMPARED, aliases=("greater_equal",)
)
logical_and = binary(
    "logical_and",
    "Whether both x and y are not zero",
    _not_differentiable("LogicalAnd", np.logical_and),
    _COMPARED,
)
logical_or = binary(
    "logical_or",
    "Whether x or y is not zero",
    _not_differentiable("LogicalOr", np.logical_or),
    _COMPARED,
)
logical_xor = binary(
    "logical_xor",
    "Whether one of x and y is not zero",
    _not_differentiable("LogicalXor", np.logical_xor),
    _COMPARED,
)
logical_not = unary(
    "logical_not",
    "Whether x is zero",
    _not_differentiable("LogicalNot", np.logical_not),
    _COMPARED,
)
bitwise_and = binary(
    "bitwise_and",
    "The bits that x and y both have",
    _not_differentiable("And", np.bitwise_and, explain=bitwise("bitwise_and")),
    dtypes=_OF_INTEGERS,
)
bitwise_or = binary(
    "bitwise_or",
    "The bits that x or y has",
    _not_differentiable("Or", np.bitwise_or, explain=bitwise("bitwise_or")),
    dtypes=_OF_INTEGERS,
)
bitwise_xor = binary(
    "bitwise_xor",
    "The bits that one of x and y has",
    _not_differentiable("Xor", np.bitwise_xor, explain=bitwise("bitwise_xor")),
    dtypes=_OF_INTEGERS,
)
bitwise_not = unary(
    "bitwise_not",
    "The bits that x has not",
    _not_differentiable("Not", np.invert, explain=inverting),
    BOTH | IN_PLACE | OUT,
    dtypes="that of input",
)
bitwise_left_shift = binary(
    "bitwise_left_shift",
    "x * 2^y",
    _not_differentiable("Lshift", np.left_shift),
    dtypes=_OF_INTEGERS,
)
bitwise_right_shift = binary(
    "bitwise_right_shift",
    "⌊x / 2^y⌋",
    _not_differentiable("Rshift", np.right_shift),
    dtypes=_OF_INTEGERS,
)
isposinf = unary(
    "isposinf", "Whether x is ∞", _not_differentiable("Isposinf", np.isposinf), BOTH | OUT
)
isneginf = unary(
    "isneginf", "Whether x is -∞", _not_differentiable("Isneginf", np.isneginf), BOTH | OUT
)
isreal = unary("isreal", "Whether x is real", _not_differentiable("Isreal", np.isreal), BOTH)
isnan = unary("isnan", "Whether x is NaN", _not_differentiable("Isnan", np.isnan), BOTH)
isinf = unary("isinf", "Whether x is ∞ or -∞", _not_differentiable("Isinf", np.isinf), BOTH)
isfinite = unary(
    "isfinite",
    "Whether x is neither infinite nor NaN",
    _not_differentiable("Isfinite", np.isfinite),
    BOTH,
)
signbit = unary(
    "signbit",
    "Whether x has the sign -, as -0.0 has",
    _not_differentiable("Signbit", np.signbit),
    BOTH | OUT,
)
