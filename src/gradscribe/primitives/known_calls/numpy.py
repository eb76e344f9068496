"""Functions and methods of NumPy (numpy.org/doc)."""

from __future__ import annotations

from gradscribe.primitives.contract_kinds import (
    ASKS,
    CHECKS,
    COMPUTES,
    DRAWS,
    FILLS,
    FIRST,
    LEADS,
    OUT,
    PURE,
    SELECTS,
    STREAM,
    UFUNC,
    VIEWS,
)
from gradscribe.primitives.known_calls.rows import Row

FUNCTIONS: tuple[Row, ...] = (
    Row(
        "numpy.random",
        ASKS,
        """
        Generator MT19937 PCG64 Philox RandomState SeedSequence default_rng
        """,
    ),
    Row(
        "numpy",
        SELECTS,
        """
        bool complex128 complex64 dtype finfo float16 float32 float64 iinfo int16 int32 int64 int8
        uint16 uint32 uint64 uint8
        """,
    ),
    Row("numpy", ASKS, "errstate"),
    Row("numpy", PURE, "empty empty_like"),
    Row("numpy", SELECTS, "meshgrid"),
    Row("numpy", VIEWS, "from_dlpack frombuffer"),
    Row(
        "numpy.exceptions",
        LEADS,
        """
        AxisError ComplexWarning RankWarning VisibleDeprecationWarning
        """,
    ),
    Row(
        "numpy",
        UFUNC,
        """
        abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh
        atan atan2 atanh bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not
        bitwise_or bitwise_right_shift bitwise_xor cbrt ceil conj conjugate copysign cos cosh
        deg2rad degrees divide divmod equal exp exp2 expm1 fabs float_power floor floor_divide fmax
        fmin fmod frexp gcd greater greater_equal heaviside hypot invert isfinite isinf isnan isnat
        lcm ldexp left_shift less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and
        logical_not logical_or logical_xor matmul matvec maximum minimum mod modf multiply negative
        nextafter not_equal positive pow power rad2deg radians reciprocal remainder right_shift
        rint sign signbit sin sinh spacing sqrt square subtract tan tanh true_divide trunc vecdot
        vecmat
        """,
    ),
    Row(
        "numpy",
        OUT,
        """
        all amax amin any argmax argmin around busday_count busday_offset choose clip compress
        concat concatenate cumprod cumsum cumulative_prod cumulative_sum dot einsum fix is_busday
        isneginf isposinf max mean median min nanargmax nanargmin nancumprod nancumsum nanmax
        nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar outer
        percentile prod ptp quantile round stack std sum take trace var
        """,
    ),
    Row(
        "numpy",
        COMPUTES,
        """
        allclose angle append arange argpartition argsort argwhere array array_equal array_equiv
        astype average bartlett base_repr binary_repr bincount blackman block broadcast_shapes
        can_cast column_stack common_type convolve copy corrcoef correlate count_nonzero cov cross
        datetime_as_string datetime_data delete diag_indices diag_indices_from diagflat diff
        digitize dstack ediff1d einsum_path extract eye flatnonzero format_float_positional
        format_float_scientific fromstring full full_like geomspace gradient hamming hanning
        histogramdd hstack i0 identity indices inner insert interp intersect1d isclose iscomplex
        iscomplexobj isdtype isfortran isin isreal isrealobj issubdtype kaiser kron lexsort
        linspace logspace min_scalar_type nan_to_num ndim nonzero ones ones_like packbits pad
        partition poly polyadd polydiv polyfit polymul polysub polyval promote_types
        ravel_multi_index repeat resize result_type roll roots row_stack searchsorted select
        setdiff1d setxor1d shape sinc size sort sort_complex take_along_axis tensordot tile
        trapezoid tri tril tril_indices tril_indices_from triu triu_indices triu_indices_from
        typename union1d unique unique_all unique_counts unique_inverse unique_values unpackbits
        unravel_index unwrap vander vdot vstack where zeros zeros_like
        """,
    ),
    Row(
        "numpy",
        ASKS,
        """
        array2string array_repr array_str get_include get_printoptions getbufsize geterr geterrcall
        may_share_memory printoptions shares_memory
        """,
    ),
    Row(
        "numpy",
        SELECTS,
        """
        array_split asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray
        atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to diag diagonal dsplit
        expand_dims flip fliplr flipud histogram histogram2d histogram_bin_edges hsplit imag ix_
        matrix_transpose mintypecode moveaxis permute_dims polyder polyint ravel real real_if_close
        require reshape rollaxis rot90 split squeeze swapaxes transpose trim_zeros unstack vsplit
        """,
    ),
    Row("numpy", FIRST, "copyto fill_diagonal place put put_along_axis putmask"),
    Row(
        "numpy",
        STREAM,
        """
        fromfile fromregex genfromtxt load loadtxt save savetxt savez savez_compressed
        """,
    ),
    Row(
        "numpy.linalg",
        COMPUTES,
        """
        cholesky cond cross det eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_rank
        norm outer pinv qr slogdet solve svd svdvals tensordot tensorinv tensorsolve trace vecdot
        vector_norm
        """,
    ),
    Row("numpy.linalg", SELECTS, "diagonal matrix_power matrix_transpose"),
    Row("numpy.linalg", OUT, "multi_dot"),
    Row(
        "numpy.fft",
        OUT,
        """
        fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft rfft2 rfftn
        """,
    ),
    Row("numpy.fft", COMPUTES, "fftfreq fftshift ifftshift rfftfreq"),
    Row(
        "numpy.polynomial.polynomial",
        COMPUTES,
        """
        polyadd polycompanion polyder polydiv polyfit polyfromroots polygrid2d polygrid3d polyint
        polyline polymul polymulx polypow polyroots polysub polytrim polyval polyval2d polyval3d
        polyvalfromroots polyvander polyvander2d polyvander3d
        """,
    ),
    Row(
        "numpy.polynomial.chebyshev",
        COMPUTES,
        """
        cheb2poly chebadd chebcompanion chebder chebdiv chebfit chebfromroots chebgauss chebgrid2d
        chebgrid3d chebint chebinterpolate chebline chebmul chebmulx chebpow chebpts1 chebpts2
        chebroots chebsub chebtrim chebval chebval2d chebval3d chebvander chebvander2d chebvander3d
        chebweight poly2cheb
        """,
    ),
    Row(
        "numpy.polynomial.legendre",
        COMPUTES,
        """
        leg2poly legadd legcompanion legder legdiv legfit legfromroots leggauss leggrid2d leggrid3d
        legint legline legmul legmulx legpow legroots legsub legtrim legval legval2d legval3d
        legvander legvander2d legvander3d legweight poly2leg
        """,
    ),
    Row(
        "numpy.polynomial.hermite",
        COMPUTES,
        """
        herm2poly hermadd hermcompanion hermder hermdiv hermfit hermfromroots hermgauss hermgrid2d
        hermgrid3d hermint hermline hermmul hermmulx hermpow hermroots hermsub hermtrim hermval
        hermval2d hermval3d hermvander hermvander2d hermvander3d hermweight poly2herm
        """,
    ),
    Row(
        "numpy.polynomial.hermite_e",
        COMPUTES,
        """
        herme2poly hermeadd hermecompanion hermeder hermediv hermefit hermefromroots hermegauss
        hermegrid2d hermegrid3d hermeint hermeline hermemul hermemulx hermepow hermeroots hermesub
        hermetrim hermeval hermeval2d hermeval3d hermevander hermevander2d hermevander3d
        hermeweight poly2herme
        """,
    ),
    Row(
        "numpy.polynomial.laguerre",
        COMPUTES,
        """
        lag2poly lagadd lagcompanion lagder lagdiv lagfit lagfromroots laggauss laggrid2d laggrid3d
        lagint lagline lagmul lagmulx lagpow lagroots lagsub lagtrim lagval lagval2d lagval3d
        lagvander lagvander2d lagvander3d lagweight poly2lag
        """,
    ),
    Row(
        "numpy.polynomial.polyutils",
        COMPUTES,
        """
        as_series format_float getdomain mapdomain mapparms trimcoef
        """,
    ),
    Row("numpy.polynomial.polyutils", SELECTS, "trimseq"),
    Row("numpy.lib.scimath", COMPUTES, "arccos arcsin arctanh log log10 log2 logn power sqrt"),
    Row("numpy.char", SELECTS, "array asarray"),
    Row(
        "numpy.char",
        UFUNC,
        """
        add isalnum isalpha isdecimal isdigit islower isnumeric isspace istitle isupper str_len
        """,
    ),
    Row(
        "numpy.char",
        COMPUTES,
        """
        capitalize center compare_chararrays count decode encode endswith equal
        expandtabs find greater greater_equal index join less less_equal ljust lower lstrip mod
        multiply not_equal partition replace rfind rindex rjust rpartition rsplit rstrip split
        splitlines startswith strip swapcase title translate upper zfill
        """,
    ),
    Row(
        "numpy.strings",
        UFUNC,
        """
        add equal greater greater_equal isalnum isalpha isdecimal isdigit islower isnumeric isspace
        istitle isupper less less_equal not_equal str_len
        """,
    ),
    Row(
        "numpy.strings",
        COMPUTES,
        """
        capitalize center count decode encode endswith expandtabs find index ljust lower lstrip mod
        multiply partition replace rfind rindex rjust rpartition rstrip slice startswith strip
        swapcase title translate upper zfill
        """,
    ),
    Row(
        "numpy.testing",
        CHECKS,
        """
        assert_ assert_allclose assert_almost_equal assert_approx_equal assert_array_almost_equal
        assert_array_almost_equal_nulp assert_array_compare assert_array_equal assert_array_less
        assert_array_max_ulp assert_equal assert_string_equal build_err_msg
        """,
    ),
    Row("numpy.lib.array_utils", ASKS, "byte_bounds"),
    Row("numpy.lib.array_utils", COMPUTES, "normalize_axis_index normalize_axis_tuple"),
)
"""Functions, and classes that are called."""


_NUMBERS = """
    number integer signedinteger unsignedinteger inexact floating complexfloating bool float16
    float32 float64 longdouble complex64 complex128 clongdouble int8 int16 int32 int64 uint8 uint16
    uint32 uint64 longlong ulonglong
"""

_OF_NUMBERS = """
    __abs__ __add__ __and__ __bool__ __complex__ __divmod__ __eq__ __float__ __floordiv__
    __format__ __ge__ __gt__ __hash__ __index__ __int__ __invert__ __le__ __lshift__ __lt__ __mod__
    __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __radd__ __rand__ __rdivmod__ __repr__
    __rfloordiv__ __rlshift__ __rmod__ __rmul__ __ror__ __round__ __rpow__ __rrshift__ __rshift__
    __rsub__ __rtruediv__ __rxor__ __str__ __sub__ __truediv__ __xor__ astype byteswap copy
    dumps flatten item ravel repeat squeeze tobytes tolist transpose view
"""
"""NumPy's classes of numbers, and their methods that write to no array."""

METHODS: tuple[Row, ...] = (
    Row("numpy:generic", PURE, _OF_NUMBERS),
    *(Row(f"numpy:{name}", PURE) for name in _NUMBERS.split()),
    Row("numpy:dtype", PURE),
    Row("numpy:finfo", PURE),
    Row("numpy:iinfo", PURE),
    Row(
        "numpy.random:Generator",
        FILLS,
        "random standard_exponential standard_gamma standard_normal",
    ),
    Row(
        "numpy.random:Generator",
        DRAWS,
        """
        beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel
        hypergeometric integers laplace logistic lognormal logseries multinomial
        multivariate_hypergeometric multivariate_normal negative_binomial noncentral_chisquare
        noncentral_f normal pareto permutation permuted poisson power rayleigh spawn
        standard_cauchy standard_t triangular uniform vonmises wald weibull zipf
        """,
    ),
    Row(
        "numpy.random:RandomState",
        DRAWS,
        """
        beta binomial bytes chisquare choice dirichlet exponential f gamma geometric get_state
        gumbel hypergeometric laplace logistic lognormal logseries multinomial multivariate_normal
        negative_binomial noncentral_chisquare noncentral_f normal pareto permutation poisson power
        rand randint randn random random_integers random_sample rayleigh seed set_state
        standard_cauchy standard_exponential standard_gamma standard_normal standard_t tomaxint
        triangular uniform vonmises wald weibull zipf
        """,
    ),
)
