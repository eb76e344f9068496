"""The instructions of LLVM for operations that Numba compiles to branches or calls, or not at all.

An intrinsic of Numba's is a function of the types of the arguments, which gives the type of the
result, and a function that writes the instructions. A loop with `select` has no branches, and what
is bitcast is no memory; LLVM's loop vectorizer knows both, and sums of products.
"""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable, Sequence
from typing import Any

from gradscribe.codegen.loops.vectorized import operations


def intrinsics() -> dict[Callable[..., Any], Any]:
    """For each of these operations, the intrinsic that stands for it."""
    intrinsic: Any = importlib.import_module("numba.extending").intrinsic
    made: dict[Callable[..., Any], Any] = {
        operations.select: intrinsic(_select),
        operations.as_bits: intrinsic(_as_bits),
        operations.from_bits: intrinsic(_from_bits),
        operations.multiply_add: intrinsic(_multiply_add),
        operations.polynomial: intrinsic(_polynomial),
        operations.in_type_of: intrinsic(_in_type_of),
    }
    if has_fused_multiply_add():
        made[operations.product_error] = intrinsic(_product_error)
    return made


def has_fused_multiply_add() -> bool:
    """Whether the processor that Numba compiles for rounds x * y + z once, in one instruction."""
    if platform.machine().lower() in ("arm64", "aarch64"):
        return True
    features = importlib.import_module("numba.core.config").CPU_FEATURES
    if features is None:
        features = importlib.import_module("numba.core.codegen").get_host_cpu_features()
    return "+fma" in features.split(",")


def _select(typing: Any, condition: Any, x: Any, y: Any) -> Any:
    result = typing.unify_types(x, y)

    def write(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        chosen = [
            context.cast(builder, value, given, result)
            for value, given in zip(args[1:], signature.args[1:], strict=True)
        ]
        return builder.select(args[0], *chosen)

    return result(condition, x, y), write


def _as_bits(typing: Any, x: Any) -> Any:
    types = _types()
    return types.int64(types.float64), _bitcast


def _from_bits(typing: Any, bits: Any) -> Any:
    types = _types()
    return types.float64(types.int64), _bitcast


def _bitcast(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
    return builder.bitcast(args[0], context.get_value_type(signature.return_type))


def _multiply_add(typing: Any, x: Any, y: Any, z: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        return _call(builder, "llvm.fmuladd", args)

    float64 = _types().float64
    return float64(float64, float64, float64), write


def _polynomial(typing: Any, x: Any, coefficients: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        *lower, result = [builder.extract_value(args[1], k) for k in range(coefficients.count)]
        for coefficient in reversed(lower):
            result = _call(builder, "llvm.fmuladd", (result, args[0], coefficient))
        return result

    float64 = _types().float64
    return float64(float64, coefficients), write


def _product_error(typing: Any, x: Any, y: Any, product: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        return _call(builder, "llvm.fma", (args[0], args[1], builder.fneg(args[2])))

    float64 = _types().float64
    return float64(float64, float64, float64), write


def _in_type_of(typing: Any, x: Any, given: Any) -> Any:
    types = _types()
    result = given if given == types.float32 else types.float64

    def write(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        return context.cast(builder, args[0], types.float64, result)

    return result(types.float64, given), write


def _call(builder: Any, name: str, args: Sequence[Any]) -> Any:
    """A call of an intrinsic of LLVM's, over arguments of one type."""
    ir: Any = importlib.import_module("llvmlite.ir")
    of = args[0].type
    function = builder.module.declare_intrinsic(name, (of,), ir.FunctionType(of, [of] * len(args)))
    return builder.call(function, args)


def _types() -> Any:
    return importlib.import_module("numba.core.types")
