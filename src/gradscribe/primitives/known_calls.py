"""What the documentation says of functions and methods that the compiler cannot read, as a table.

A row: the module (or the class) in which the names are found, what a call of them may do, the
names. The sources are the reference of Python's library (docs.python.org/3/library, under the name
of the module), and the references of NumPy (numpy.org/doc) and SciPy (docs.scipy.org), by the
signature of each function: what has a parameter `out` or `output` writes to that alone.
`tests/border/test_contracts.py` runs the rows and looks at the memory. What does not stand here is
not trusted.
"""

from __future__ import annotations

from typing import NamedTuple

from gradscribe.primitives.contract_kinds import (
    ASKS,
    BAR,
    BUFFER,
    CHECKS,
    COMPUTES,
    DRAWS,
    FILLS,
    FIRST,
    HOLDS,
    LEADS,
    OUT,
    OUTPUT,
    OWN_BUFFER,
    PICKS,
    PURE,
    SELECTS,
    STREAM,
    UFUNC,
    VIEWS,
    Contract,
)


class Row(NamedTuple):
    """Functions of a module, or methods of a class (`module:Class`; no names: all that the class
    defines), and the contract of their calls. unless: a call that is given one of these keywords
    may do anything, as it calls a function."""

    place: str
    contract: Contract
    names: str = ""
    unless: str = ""


FUNCTIONS: tuple[Row, ...] = (
    Row("functools", LEADS, "partial"),
    Row("scipy.optimize", COMPUTES, "bisect brenth brentq newton ridder toms748"),
    Row(
        "builtins",
        COMPUTES,
        """
        __import__ abs all any ascii bin bool bytes chr complex divmod float format frozenset hex
        int len oct ord pow range repr round slice str sum
        """,
    ),
    Row("builtins", SELECTS, "max min sorted tuple"),
    Row("builtins", LEADS, "dict enumerate filter getattr iter list map next reversed set zip"),
    Row("builtins", ASKS, "callable hasattr hash id isinstance issubclass object type"),
    Row("builtins", STREAM, "input open print"),
    Row(
        "math",
        COMPUTES,
        """
        acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist erf
        erfc exp exp2 expm1 fabs factorial floor fma fmod frexp fsum gamma gcd hypot isclose
        isfinite isinf isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nextafter perm pow
        prod radians remainder sin sinh sqrt sumprod tan tanh trunc ulp
        """,
    ),
    Row(
        "cmath",
        COMPUTES,
        """
        acos acosh asin asinh atan atanh cos cosh exp isclose isfinite isinf isnan log log10 phase
        polar rect sin sinh sqrt tan tanh
        """,
    ),
    Row(
        "operator",
        COMPUTES,
        """
        abs add and_ contains countOf eq floordiv ge gt index indexOf inv invert is_ is_not le
        length_hint lshift lt matmul mod mul ne neg not_ or_ pos pow rshift sub truediv truth xor
        """,
    ),
    Row("operator", SELECTS, "attrgetter concat getitem itemgetter methodcaller"),
    Row(
        "itertools",
        SELECTS,
        """
        accumulate chain combinations combinations_with_replacement compress count cycle dropwhile
        filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee
        zip_longest
        """,
    ),
    Row(
        "statistics",
        PURE,
        """
        correlation covariance fmean geometric_mean harmonic_mean linear_regression mean median
        median_grouped pstdev pvariance quantiles stdev variance
        """,
    ),
    Row("statistics", LEADS, "median_high median_low mode multimode"),
    Row("collections", HOLDS, "Counter OrderedDict defaultdict deque"),
    Row("copy", LEADS, "copy deepcopy replace"),
    Row(
        "dataclasses",
        LEADS,
        "asdict astuple fields is_dataclass replace",
        unless="dict_factory tuple_factory",
    ),
    Row("re", PURE, "compile escape findall finditer fullmatch match purge search split sub subn"),
    Row(
        "json",
        PURE,
        "dumps loads",
        unless="cls default object_hook object_pairs_hook parse_constant parse_float parse_int",
    ),
    Row(
        "json",
        STREAM,
        "dump load",
        unless="cls default object_hook object_pairs_hook parse_constant parse_float parse_int",
    ),
    Row("pickle", PURE, "dumps loads", unless="buffer_callback buffers"),
    Row("pickle", STREAM, "dump load", unless="buffer_callback buffers"),
    Row("csv", LEADS, "reader writer"),
    Row("struct", PURE, "Struct calcsize iter_unpack pack unpack unpack_from"),
    Row("struct", BUFFER, "pack_into"),
    Row(
        "base64",
        PURE,
        """
        b16decode b16encode b32decode b32encode b64decode b64encode b85decode b85encode
        standard_b64decode standard_b64encode urlsafe_b64decode urlsafe_b64encode
        """,
    ),
    Row("binascii", PURE, "a2b_base64 a2b_hex b2a_base64 b2a_hex crc32 crc_hqx hexlify unhexlify"),
    Row("zlib", PURE, "adler32 compress crc32 decompress"),
    Row(
        "hashlib",
        PURE,
        """
        blake2b blake2s md5 new sha1 sha224 sha256 sha384 sha3_256 sha3_512 sha512
        """,
    ),
    Row("textwrap", PURE, "dedent fill indent shorten wrap", unless="predicate"),
    Row("string", PURE, "capwords"),
    Row("pprint", PURE, "pformat"),
    Row("uuid", ASKS, "UUID uuid1 uuid3 uuid4 uuid5"),
    Row(
        "time",
        ASKS,
        """
        asctime ctime gmtime localtime mktime monotonic monotonic_ns perf_counter perf_counter_ns
        process_time process_time_ns sleep strftime strptime thread_time thread_time_ns time
        time_ns
        """,
    ),
    Row("datetime", PURE, "date datetime time timedelta timezone"),
    Row("decimal", ASKS, "Decimal getcontext localcontext setcontext"),
    Row("fractions", PURE, "Fraction"),
    Row("pathlib", PURE, "Path PosixPath PurePath PurePosixPath PureWindowsPath"),
    Row(
        "os.path",
        PURE,
        """
        abspath basename commonpath commonprefix dirname isabs join normpath relpath split splitext
        """,
    ),
    Row("os.path", ASKS, "exists expanduser expandvars getmtime getsize isdir isfile realpath"),
    Row(
        "os",
        STREAM,
        """
        close getcwd getenv getpid listdir makedirs mkdir read remove rename replace rmdir stat
        unlink urandom write
        """,
    ),
    Row(
        "sys",
        STREAM,
        """
        exc_info getdefaultencoding getrecursionlimit getrefcount getsizeof getswitchinterval
        intern setrecursionlimit setswitchinterval
        """,
    ),
    Row("gc", ASKS, "collect disable enable get_count isenabled"),
    Row("platform", ASKS, "machine node platform processor python_version release system"),
    Row(
        "threading",
        ASKS,
        """
        Condition Event Lock RLock Semaphore active_count current_thread get_ident
        """,
    ),
    Row(
        "logging",
        STREAM,
        """
        FileHandler StreamHandler basicConfig critical debug disable error exception getLogger info
        log warning
        """,
    ),
    Row(
        "warnings",
        STREAM,
        """
        catch_warnings filterwarnings resetwarnings showwarning simplefilter warn warn_explicit
        """,
    ),
    Row("traceback", STREAM, "format_exc format_exception print_exc print_exception print_stack"),
    Row("pprint", STREAM, "pp pprint"),
    Row("io", PURE, "StringIO"),
    Row("io", STREAM, "open"),
    Row(
        "tempfile",
        STREAM,
        """
        NamedTemporaryFile TemporaryDirectory TemporaryFile gettempdir mkdtemp mkstemp
        """,
    ),
    Row("tqdm.std", BAR, "tqdm"),
    Row("tqdm.asyncio", BAR, "tqdm_asyncio"),
    Row("tqdm.notebook", BAR, "tqdm_notebook"),
    Row("random", ASKS, "Random SystemRandom"),
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
    Row("scipy.integrate", COMPUTES, "fixed_quad quad"),
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
        digitize dstack ediff1d einsum_path extract eye flatnonzero
        format_float_positional format_float_scientific fromstring full full_like geomspace
        gradient hamming hanning histogramdd hstack i0 identity indices inner insert interp
        intersect1d isclose iscomplex isdtype isfortran isin isreal
        issubdtype kaiser kron lexsort linspace logspace meshgrid min_scalar_type
        nan_to_num ndim nonzero ones ones_like packbits pad partition poly polyadd polydiv polyfit
        polymul polysub polyval promote_types ravel_multi_index repeat resize result_type roll
        roots row_stack searchsorted select setdiff1d setxor1d shape sinc size sort sort_complex
        take_along_axis tensordot tile trapezoid tri tril tril_indices tril_indices_from triu
        triu_indices triu_indices_from typename union1d unique unique_all unique_counts
        unique_inverse unique_values unpackbits unravel_index unwrap vander vdot vstack where zeros
        zeros_like
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
        array asarray capitalize center compare_chararrays count decode encode endswith equal
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
    Row(
        "scipy.linalg",
        COMPUTES,
        """
        bandwidth block_diag cdf2rdf cholesky circulant companion convolution_matrix coshm cosm
        cossin det dft eig eig_banded eigh eigh_tridiagonal eigvals eigvals_banded eigvalsh
        eigvalsh_tridiagonal expm expm_frechet fiedler fiedler_companion
        hadamard hankel helmert hessenberg hilbert invhilbert invpascal ishermitian issymmetric
        khatri_rao ldl lstsq lu matmul_toeplitz matrix_balance norm null_space ordqz orth
        orthogonal_procrustes pascal pinv pinvh polar qr qr_multiply qr_update qz rq rsf2csf schur
        signm sinhm sinm solve solve_circulant solve_continuous_are solve_continuous_lyapunov
        solve_discrete_are solve_discrete_lyapunov solve_lyapunov solve_sylvester solve_toeplitz
        solve_triangular solveh_banded sqrtm subspace_angles svd svdvals tanhm tanm toeplitz
        """,
    ),
    Row("scipy.linalg", SELECTS, "cho_factor cholesky_banded inv lu_factor"),
    Row(
        "scipy.signal.windows",
        COMPUTES,
        """
        barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine dpss exponential
        flattop gaussian general_cosine general_gaussian general_hamming get_window hamming hann
        kaiser kaiser_bessel_derived lanczos nuttall parzen taylor triang tukey
        """,
    ),
    Row(
        "scipy.fft",
        COMPUTES,
        """
        dct dctn dst dstn fft fft2 fftfreq fftn fftshift fht fhtoffset hfft hfft2 hfftn idct idctn
        idst idstn ifft ifft2 ifftn ifftshift ifht ihfft ihfft2 ihfftn irfft irfft2 irfftn
        next_fast_len prev_fast_len rfft rfft2 rfftfreq rfftn
        """,
    ),
    Row("scipy.fft", ASKS, "get_workers"),
    Row(
        "scipy.ndimage",
        OUTPUT,
        """
        affine_transform binary_closing binary_dilation binary_erosion binary_fill_holes
        binary_hit_or_miss binary_opening binary_propagation black_tophat convolve convolve1d
        correlate correlate1d distance_transform_bf distance_transform_edt fourier_ellipsoid
        fourier_gaussian fourier_shift fourier_uniform gaussian_filter gaussian_filter1d
        gaussian_gradient_magnitude gaussian_laplace grey_closing grey_dilation grey_erosion
        grey_opening label laplace map_coordinates maximum_filter maximum_filter1d median_filter
        minimum_filter minimum_filter1d morphological_gradient morphological_laplace
        percentile_filter prewitt rank_filter rotate shift sobel spline_filter spline_filter1d
        uniform_filter uniform_filter1d watershed_ift white_tophat zoom
        """,
    ),
    Row(
        "scipy.ndimage",
        COMPUTES,
        """
        center_of_mass extrema find_objects generate_binary_structure histogram iterate_structure
        maximum maximum_position mean median minimum minimum_position standard_deviation sum
        sum_labels value_indices variance
        """,
    ),
    Row(
        "scipy.integrate",
        COMPUTES,
        """
        cumulative_simpson cumulative_trapezoid lebedev_rule newton_cotes romb simpson trapezoid
        """,
    ),
    Row(
        "scipy.spatial",
        COMPUTES,
        """
        distance_matrix geometric_slerp minkowski_distance minkowski_distance_p procrustes
        """,
    ),
    Row("scipy.constants", COMPUTES, "convert_temperature find lambda2nu nu2lambda"),
    Row("scipy.cluster.vq", COMPUTES, "vq whiten"),
    Row(
        "scipy.sparse.csgraph",
        COMPUTES,
        """
        bellman_ford breadth_first_order breadth_first_tree connected_components csgraph_from_dense
        csgraph_masked_from_dense depth_first_order depth_first_tree dijkstra floyd_warshall
        johnson laplacian minimum_spanning_tree reconstruct_path shortest_path
        """,
    ),
    Row(
        "scipy.optimize",
        COMPUTES,
        """
        isotonic_regression linear_sum_assignment lsq_linear milp nnls rosen rosen_der rosen_hess
        rosen_hess_prod
        """,
    ),
    Row(
        "scipy.signal",
        SELECTS,
        """
        abcd_normalize bode cont2discrete deconvolve freqresp freqs freqs_zpk
        """,
    ),
    Row(
        "scipy.signal",
        COMPUTES,
        """
        argrelmax argrelmin bessel besselap bilinear bilinear_zpk buttap butter buttord cheb1ap
        cheb1ord cheb2ap cheb2ord cheby1 cheby2 chirp choose_conv_method closest_STFT_dual_window
        coherence convolve convolve2d correlate correlate2d correlation_lags csd cspline1d
        cspline1d_eval cspline2d czt czt_points dbode decimate detrend dfreqresp dlsim ellip
        ellipap ellipord envelope fftconvolve filtfilt find_peaks find_peaks_cwt findfreqs firls
        firwin firwin2 firwin_2d freqz freqz_sos freqz_zpk gauss_spline gausspulse get_window
        group_delay hilbert hilbert2 iirdesign iirfilter iirnotch iirpeak impulse invres invresz
        istft kaiser_atten kaiser_beta kaiserord lfilter lfilter_zi lfiltic lombscargle lp2bp
        lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk max_len_seq medfilt medfilt2d
        minimum_phase normalize oaconvolve peak_prominences peak_widths periodogram qspline1d
        qspline1d_eval qspline2d remez resample resample_poly residue residuez savgol_coeffs
        savgol_filter sawtooth sos2tf sos2zpk sosfilt sosfilt_zi sosfiltfilt spectrogram square
        ss2tf ss2zpk step stft tf2sos tf2ss tf2zpk unique_roots unit_impulse upfirdn vectorstrength
        welch wiener zoom_fft zpk2sos zpk2ss zpk2tf
        """,
    ),
    Row(
        "scipy.spatial.distance",
        COMPUTES,
        """
        braycurtis canberra chebyshev cityblock correlation cosine dice directed_hausdorff
        euclidean hamming is_valid_dm is_valid_y jaccard jensenshannon minkowski num_obs_dm
        num_obs_y rogerstanimoto russellrao seuclidean sokalsneath sqeuclidean squareform yule
        """,
    ),
    Row("scipy.spatial.distance", OUT, "cdist pdist"),
    Row(
        "scipy.special",
        COMPUTES,
        """
        ai_zeros assoc_laguerre bei_zeros beip_zeros ber_zeros bernoulli berp_zeros bi_zeros
        c_roots cg_roots chebyc chebys chebyt chebyu comb diric ellip_harm ellip_harm_2
        ellip_normal erf_zeros euler factorial factorial2 factorialk fresnel_zeros fresnelc_zeros
        fresnels_zeros gegenbauer genlaguerre h1vp h2vp h_roots he_roots hermite hermitenorm ivp
        j_roots jacobi jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros js_roots jvp kei_zeros keip_zeros
        kelvin_zeros ker_zeros kerp_zeros kvp l_roots la_roots laguerre lambertw legendre lmbda
        log_softmax logsumexp lqmn lqn mathieu_even_coef mathieu_odd_coef multigammaln obl_cv_seq
        p_roots pbdn_seq pbdv_seq pbvv_seq perm polygamma pro_cv_seq ps_roots riccati_jn riccati_yn
        roots_chebyc roots_chebys roots_chebyt roots_chebyu roots_gegenbauer roots_genlaguerre
        roots_hermite roots_hermitenorm roots_jacobi roots_laguerre roots_legendre roots_sh_chebyt
        roots_sh_chebyu roots_sh_jacobi roots_sh_legendre s_roots sh_chebyt sh_chebyu sh_jacobi
        sh_legendre sinc softmax softplus spherical_in spherical_jn spherical_kn spherical_yn
        stirling2 t_roots ts_roots u_roots us_roots y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros
        yvp
        """,
    ),
    Row("scipy.special", OUT, "zeta"),
    Row(
        "scipy.special",
        UFUNC,
        """
        agm airy airye bdtr bdtrc bdtri bdtrik bdtrin bei beip ber berp besselpoly beta betainc
        betaincc betainccinv betaincinv betaln binom boxcox boxcox1p btdtria btdtrib cbrt chdtr
        chdtrc chdtri chdtriv chndtr chndtridf chndtrinc chndtrix cosdg cosm1 cotdg dawsn digamma
        ellipe ellipeinc ellipj ellipk ellipkinc ellipkm1 elliprc elliprd elliprf elliprg elliprj
        entr erf erfc erfcinv erfcx erfi erfinv eval_chebyc eval_chebys eval_chebyt eval_chebyu
        eval_gegenbauer eval_genlaguerre eval_hermite eval_hermitenorm eval_jacobi eval_laguerre
        eval_legendre eval_sh_chebyt eval_sh_chebyu eval_sh_jacobi eval_sh_legendre exp1 exp10 exp2
        expi expit expm1 expn exprel fdtr fdtrc fdtri fdtridfd fresnel gamma gammainc gammaincc
        gammainccinv gammaincinv gammaln gammasgn gdtr gdtrc gdtria gdtrib gdtrix hankel1 hankel1e
        hankel2 hankel2e huber hyp0f1 hyp1f1 hyp2f1 hyperu i0 i0e i1 i1e inv_boxcox inv_boxcox1p
        it2i0k0 it2j0y0 it2struve0 itairy iti0k0 itj0y0 itmodstruve0 itstruve0 iv ive j0 j1 jn jv
        jve k0 k0e k1 k1e kei keip kelvin ker kerp kl_div kn kolmogi kolmogorov kv kve log1p
        log_expit log_ndtr log_wright_bessel loggamma logit lpmv mathieu_a mathieu_b mathieu_cem
        mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 mathieu_sem modfresnelm
        modfresnelp modstruve nbdtr nbdtrc nbdtri nbdtrik nbdtrin ncfdtr ncfdtri ncfdtridfd
        ncfdtridfn ncfdtrinc nctdtr nctdtridf nctdtrinc nctdtrit ndtr ndtri ndtri_exp nrdtrimn
        nrdtrisd obl_ang1 obl_ang1_cv obl_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv owens_t pbdv
        pbvv pbwa pdtr pdtrc pdtri pdtrik poch powm1 pro_ang1 pro_ang1_cv pro_cv pro_rad1
        pro_rad1_cv pro_rad2 pro_rad2_cv pseudo_huber psi radian rel_entr rgamma round shichi sici
        sindg smirnov smirnovi spence stdtr stdtridf stdtrit struve tandg tklmbda voigt_profile
        wofz wright_bessel wrightomega xlog1py xlogy y0 y1 yn yv yve zetac
        """,
    ),
    Row(
        "scipy.stats",
        COMPUTES,
        """
        describe entropy gmean hmean iqr kendalltau kurtosis linregress median_abs_deviation moment
        pearsonr rankdata sem skew spearmanr trim_mean ttest_1samp ttest_ind ttest_rel variation
        wasserstein_distance zscore
        """,
    ),
    Row(
        "scipy.stats",
        COMPUTES,
        """
        alexandergovern ansari barnard_exact bartlett boschloo_exact boxcox boxcox_llf
        brunnermunzel chisquare circmean circstd circvar cramervonmises cumfreq energy_distance
        epps_singleton_2samp expectile f_oneway fligner friedmanchisquare gstd gzscore jarque_bera
        kruskal kstat kstatvar kurtosistest levene lmoment median_test mode mood normaltest
        percentileofscore pmean pointbiserialr poisson_means_test power_divergence ranksums relfreq
        scoreatpercentile shapiro sigmaclip skewtest tiecorrect tmax tmean tmin trim1 trimboth tsem
        tstd tvar wasserstein_distance_nd yeojohnson yeojohnson_llf zmap
        """,
    ),
    Row(
        "scipy.stats",
        COMPUTES,
        """
        anderson anderson_ksamp chatterjeexi chi2_contingency combine_pvalues
        cramervonmises_2samp differential_entropy ks_2samp kstest mannwhitneyu quantile spearmanrho
        wilcoxon
        """,
        unless="method",
    ),
    Row(
        "scipy.fftpack",
        COMPUTES,
        """
        cc_diff cs_diff dct dctn diff dst dstn fft fft2 fftn hilbert idct idctn idst idstn ifft
        ifft2 ifftn ihilbert irfft itilbert rfft rfftfreq sc_diff shift ss_diff tilbert
        """,
    ),
    Row(
        "scipy.cluster.hierarchy",
        COMPUTES,
        """
        average centroid complete cophenet fcluster inconsistent is_monotonic is_valid_linkage
        leaves_list linkage median num_obs_linkage single ward weighted
        """,
    ),
)
"""Functions, and classes that are called."""

_STREAMS = """
    StringIO BytesIO TextIOWrapper BufferedReader BufferedWriter BufferedRandom FileIO IOBase
    RawIOBase BufferedIOBase TextIOBase
"""
_BASES = "IOBase RawIOBase BufferedIOBase TextIOBase"
_OF_STREAMS = """
    __enter__ __exit__ __iter__ __next__ close detach fileno flush getvalue isatty peek read read1
    readable readall readline readlines reconfigure seek seekable tell truncate writable write
    writelines
"""
"""The classes of streams, and their methods that write to no array."""

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
    Row("builtins:str", COMPUTES),
    Row("builtins:bytes", COMPUTES),
    Row("builtins:int", COMPUTES),
    Row("builtins:float", COMPUTES),
    Row("builtins:complex", COMPUTES),
    Row("builtins:bool", COMPUTES),
    Row("builtins:range", COMPUTES),
    Row("builtins:tuple", SELECTS),
    Row("builtins:frozenset", SELECTS),
    Row("builtins:slice", SELECTS),
    Row("re:Pattern", PURE),
    Row("re:Match", PURE),
    Row("datetime:date", PURE),
    Row("datetime:datetime", PURE),
    Row("datetime:time", PURE),
    Row("datetime:timedelta", PURE),
    Row("datetime:timezone", PURE),
    Row("decimal:Decimal", PURE),
    Row("fractions:Fraction", PURE),
    Row("enum:Enum", PURE),
    Row("enum:IntEnum", PURE),
    Row("enum:Flag", PURE),
    Row("numpy:generic", PURE, _OF_NUMBERS),
    *(Row(f"numpy:{name}", PURE) for name in _NUMBERS.split()),
    Row("numpy:dtype", PURE),
    Row("numpy:finfo", PURE),
    Row("numpy:iinfo", PURE),
    Row("pathlib:PurePath", PURE),
    Row("struct:Struct", PURE, "iter_unpack pack unpack unpack_from"),
    Row("struct:Struct", OWN_BUFFER, "pack_into"),
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
        noncentral_f normal pareto permutation permuted poisson power rayleigh spawn standard_cauchy
        standard_t triangular uniform vonmises wald weibull zipf
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
    Row(
        "random:Random",
        DRAWS,
        """
        betavariate binomialvariate expovariate gammavariate gauss getrandbits getstate
        lognormvariate normalvariate paretovariate randbytes randint random randrange seed setstate
        triangular uniform vonmisesvariate weibullvariate
        """,
    ),
    Row("random:Random", PICKS, "choice choices sample"),
    Row("_random:Random", DRAWS, "getrandbits getstate random seed setstate"),
    *(Row(f"io:{name}", STREAM, _OF_STREAMS) for name in _STREAMS.split()),
    *(Row(f"_io:_{name}", STREAM, _OF_STREAMS) for name in _BASES.split()),
    Row(
        "logging:Logger",
        STREAM,
        """
        addHandler critical debug error exception fatal getChild getEffectiveLevel hasHandlers info
        isEnabledFor log removeHandler setLevel warning
        """,
    ),
    Row("logging:Handler", STREAM, "close flush setFormatter setLevel"),
    Row("logging:StreamHandler", STREAM, "flush setStream"),
    Row(
        "logging:LoggerAdapter",
        STREAM,
        "critical debug error exception info isEnabledFor log setLevel warning",
    ),
    Row(
        "pathlib:Path",
        STREAM,
        """
        absolute chmod exists expanduser glob is_dir is_file is_symlink iterdir lstat mkdir open
        read_bytes read_text rename replace resolve rglob rmdir samefile stat touch unlink
        write_bytes write_text
        """,
    ),
    Row("warnings:catch_warnings", STREAM, "__enter__ __exit__"),
    Row(
        "tqdm.std:tqdm",
        STREAM,
        """
        __enter__ __exit__ clear close display refresh reset set_description set_description_str
        set_postfix set_postfix_str unpause update write
        """,
    ),
    Row("tqdm.notebook:tqdm_notebook", STREAM, "clear close display reset update"),
    Row("builtins:list", HOLDS),
    Row("builtins:dict", HOLDS),
    Row("builtins:set", HOLDS),
    Row("collections:deque", HOLDS),
    Row("builtins:BaseException", LEADS),
    Row("_thread:LockType", ASKS, "__enter__ __exit__ acquire locked release"),
    Row("_thread:RLock", ASKS, "__enter__ __exit__ acquire release"),
    Row("_hashlib:HASH", LEADS),
)
"""Methods of objects."""

UNTOLD: dict[str, str] = {"larf": "work", "ppsv": "ap", "stemr": "e"}
"""Arguments of LAPACK's functions (without the letter of the dtype) that are written to, of which
the documentation by f2py does not tell."""
