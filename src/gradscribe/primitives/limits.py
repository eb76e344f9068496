"""What is not in the tables of operations: limits of functions, and why others have no derivative.

`gs.supported()` and the page `docs/functions.md` tell it; a test holds it against NumPy itself.
"""

from __future__ import annotations

_TIES = "equal elements: the derivative of the first of them"
_EIGEN = (
    "where eigenvalues coincide, reverse mode takes what depends on the space of their vectors, "
    "and refuses what depends on the vectors"
)

LIMITS: dict[str, str] = {
    "np.linalg.eig": f"the results are complex, whatever their values; {_EIGEN}; "
    "LAPACK's normalization of the vectors is differentiated, too",
    "np.linalg.eigvals": "the result is complex, whatever its values; eigenvectors have to be "
    "independent",
    "np.linalg.eigh": f"{_EIGEN}, on their phases, or on values and vectors together; forward mode "
    "refuses all of these",
    "np.linalg.svd": "equal singular values, those that are zero, phases, and the vectors beyond "
    "the singular values as in `eigh`",
    "np.linalg.qr": "not mode 'raw'; of independent columns; those beyond them as in `svd`",
    "np.linalg.pinv": "of full rank, or of a rank that does not change with the arguments",
    "np.linalg.lstsq": "of full rank, or of a rank that does not change with the arguments",
    "np.linalg.det": "of singular matrices the first derivative is right, too",
    "np.linalg.norm": "at zero the gradient is 0; equal extremes share it; `svd` "
    "tells of singular values",
    "np.roots": "the result is complex, whatever its values; simple roots",
    "np.abs": "0 at 0",
    "np.absolute": "0 at 0",
    "np.fabs": "0 at 0",
    "np.maximum": "equal operands get one half each",
    "np.minimum": "equal operands get one half each",
    "np.max": "equal extremes share the derivative evenly",
    "np.min": "equal extremes share the derivative evenly",
    "np.clip": "at its bounds the derivative passes",
    "np.where": "compiled, what is not chosen gets no derivative, also where its own is infinite; "
    "a product with zeros and ones is no such mask: 0 times infinity is NaN",
    "math.sqrt": "infinite at 0, as all derivatives of Python's numbers at poles",
    "np.sign": "0; of complex numbers it is refused",
    "np.sort": "the derivative follows the elements",
    "np.unique": _TIES,
    "np.unique_all": _TIES,
    "np.unique_counts": _TIES,
    "np.unique_inverse": _TIES,
    "np.histogram": "sums of weights have a derivative in the weights, counts have none; edges "
    "move with the extremes",
    "np.interp": "at the points, the slope to the right",
    "np.quantile": "in the elements and in q; weights choose, and have no derivative",
    "np.percentile": "in the elements and in q; weights choose, and have no derivative",
    "np.median": "of an even number, of the two in the middle; of data with NaN it is NaN",
    "np.arange": "how many numbers there are has no derivative",
    "np.einsum": "with `optimize` the sums of the derivative are optimized, too",
    "np.fromiter": "compiled only",
    "np.poly1d": "compiled only",
    "np.vectorize": "compiled only, without `signature`",
    "scipy.linalg.eig": "the vectors are complex, also those of real values; else as "
    "`np.linalg.eig`",
}
"""What to know of a function, by its name."""

WITHOUT_DERIVATIVE = {
    "its results are integers, truth values or shapes": """
        np.all np.allclose np.any np.argmax np.argmin np.argpartition np.argsort np.argwhere
        np.array_equal np.array_equiv np.bitwise_and np.bitwise_count np.bitwise_invert
        np.bitwise_left_shift np.bitwise_not np.bitwise_or np.bitwise_right_shift np.bitwise_xor
        np.broadcast_shapes np.count_nonzero np.diag_indices np.diag_indices_from np.equal
        np.digitize np.flatnonzero np.gcd np.greater np.greater_equal np.indices np.invert
        np.isclose np.iscomplex np.iscomplexobj np.isfinite np.isfortran np.isin np.isinf
        np.isnan np.isnat np.isneginf np.isposinf np.isreal np.isrealobj np.isscalar np.iterable
        np.lcm np.left_shift np.less np.less_equal np.lexsort np.linalg.matrix_rank
        np.logical_and np.logical_not np.logical_or np.logical_xor np.mask_indices np.nanargmax
        np.nanargmin np.nonzero np.not_equal np.packbits np.ravel_multi_index np.right_shift
        np.searchsorted np.signbit np.size np.tril_indices np.tril_indices_from np.triu_indices
        np.triu_indices_from np.unpackbits np.unravel_index math.ceil math.comb math.factorial
        math.floor math.gcd math.isclose math.isfinite math.isinf math.isnan math.isqrt math.lcm
        math.perm math.trunc math.ulp math.nextafter torchlike.nn.functional.one_hot""",
    "it makes arrays of what has no derivative: of lengths, dtypes, texts, bytes, files": """
        np.bartlett np.blackman np.empty np.empty_like np.eye np.frombuffer np.fromfile
        np.fromregex np.fromstring np.genfromtxt np.hamming np.hanning np.identity np.load
        np.loadtxt np.ones np.ones_like np.tri np.zeros np.zeros_like""",
    "it is about dtypes, memory, texts, files or settings, not about numbers": """
        np.array2string np.array_repr np.array_str np.base_repr np.binary_repr
        np.can_cast np.common_type np.datetime_as_string np.datetime_data np.einsum_path
        np.format_float_positional np.format_float_scientific np.from_dlpack np.get_include
        np.get_printoptions np.getbufsize np.geterr np.geterrcall np.info np.isdtype
        np.issubdtype np.may_share_memory np.min_scalar_type np.mintypecode np.nested_iters
        np.printoptions np.promote_types np.require np.result_type np.save np.savetxt np.savez
        np.savez_compressed np.set_printoptions np.setbufsize np.seterr np.seterrcall
        np.shares_memory np.show_config np.show_runtime np.test np.typename""",
    "it is about dates": "np.busday_count np.busday_offset np.is_busday",
    "whether its results are complex depends on the values": "np.real_if_close np.sort_complex",
    "its results are in no order: use np.unique": "np.unique_values",
    "newer NumPy has it under another name only: isin, trapezoid": "np.in1d np.trapz",
    "it makes matrices of the class np.matrix": "np.asmatrix np.bmat",
    "it calls back for each element, without source": "np.frompyfunc",
    "of several items it gives what the machine gives: write the loop": """
        np.arctan2.reduce np.atan2.reduce np.copysign.reduce np.float_power.reduce
        np.floor_divide.reduce np.fmod.reduce np.heaviside.reduce np.ldexp.reduce np.mod.reduce
        np.nextafter.reduce np.pow.reduce np.power.reduce np.remainder.reduce""",
}
"""The names of functions that have no derivative here, by the reason."""
