"""Functions and methods of Python's library (docs.python.org/3/library), and of tqdm."""

from __future__ import annotations

from gradscribe.primitives.contract_kinds import (
    ASKS,
    BAR,
    BUFFER,
    COMPUTES,
    DRAWS,
    HOLDS,
    LEADS,
    OWN_BUFFER,
    PICKS,
    PURE,
    SELECTS,
    STREAM,
)
from gradscribe.primitives.known_calls.rows import Row

FUNCTIONS: tuple[Row, ...] = (
    Row("functools", LEADS, "partial"),
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
    Row("operator", ASKS, "is_ is_not"),
    Row(
        "operator",
        COMPUTES,
        """
        abs add and_ contains countOf eq floordiv ge gt index indexOf inv invert le
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
        getdefaultencoding getrecursionlimit getsizeof getswitchinterval
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
    Row("pathlib:PurePath", PURE),
    Row("struct:Struct", PURE, "iter_unpack pack unpack unpack_from"),
    Row("struct:Struct", OWN_BUFFER, "pack_into"),
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
