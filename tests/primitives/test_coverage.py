"""NumPy's public functions: each is supported, or it is said here why it has no derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradscribe.frontend.calls.builtins import BUILTINS
from gradscribe.primitives.registry import COMPOSITIONS, PRIMITIVES

MODULES = {"": np, "linalg.": np.linalg, "fft.": np.fft}

WITHOUT_DERIVATIVE = {
    "its results are integers, truth values or shapes": """
        all allclose any argmax argmin argpartition argsort argwhere array_equal array_equiv
        bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or
        bitwise_right_shift bitwise_xor broadcast_shapes count_nonzero diag_indices
        diag_indices_from equal flatnonzero gcd greater greater_equal indices invert isclose
        iscomplex iscomplexobj isfinite isfortran isin isinf isnan isnat isneginf isposinf isreal
        isrealobj isscalar iterable lcm left_shift less less_equal lexsort linalg.matrix_rank
        logical_and logical_not logical_or logical_xor mask_indices nanargmax nanargmin nonzero
        not_equal packbits ravel_multi_index right_shift searchsorted signbit size
        tril_indices tril_indices_from triu_indices triu_indices_from unpackbits unravel_index""",
    "it makes arrays of what has no derivative: of lengths, dtypes, texts, bytes, files": """
        bartlett blackman empty empty_like eye frombuffer fromfile fromregex fromstring
        genfromtxt hamming hanning identity load loadtxt ones ones_like tri zeros zeros_like""",
    "it is about dtypes, memory, texts, files or settings, not about numbers": """
        array2string array_repr array_str asfortranarray base_repr binary_repr can_cast common_type
        datetime_as_string datetime_data einsum_path format_float_positional
        format_float_scientific from_dlpack get_include get_printoptions getbufsize geterr
        geterrcall info isdtype issubdtype may_share_memory min_scalar_type mintypecode nested_iters
        printoptions promote_types require result_type save savetxt savez savez_compressed
        set_printoptions setbufsize seterr seterrcall shares_memory show_config show_runtime test
        typename""",
    "it is about dates": "busday_count busday_offset is_busday",
    "whether its results are complex depends on the values": """
        real_if_close sort_complex""",
    "the length of its result depends on the values": """
        histogram_bin_edges intersect1d polydiv setdiff1d setxor1d union1d unique
        unique_all unique_counts unique_inverse unique_values""",
    "newer NumPy has it under another name only: isin, trapezoid": "in1d trapz",
    "its bins depend on the values: count with searchsorted and bincount": """
        histogram histogram2d histogramdd""",
    "it makes matrices of the class np.matrix": "asmatrix bmat",
    "it calls back for each element, without source": "fromfunction frompyfunc",
}
"""The names of functions, by the reason why they have no derivative."""


def public_functions() -> list[str]:
    return [
        prefix + name
        for prefix, module in MODULES.items()
        for name in sorted(module.__all__)
        if callable(getattr(module, name)) and not isinstance(getattr(module, name), type)
    ]


def function_named(name: str) -> Any:
    *module, last = name.split(".")
    return getattr(getattr(np, module[0]) if module else np, last)


def is_supported(function: Any) -> bool:
    """Whether there is a rule, or something that says what the function is made of."""
    primitive = PRIMITIVES.get(function)
    if primitive is not None:
        return primitive.adjoint is not None or primitive.tangent is not None
    return function in COMPOSITIONS or function in BUILTINS


LISTED = {name for names in WITHOUT_DERIVATIVE.values() for name in names.split()}


@pytest.mark.parametrize("name", public_functions())
def test_a_function_has_a_derivative_or_a_reason_for_none(name: str) -> None:
    assert (name in LISTED) != is_supported(function_named(name))
