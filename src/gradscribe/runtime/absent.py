"""What PyTorch has and gradscribe has not: each name is refused, with what to do instead."""

from __future__ import annotations

_DEVICES = "Tensors live in main memory; leave the move out"
_SPARSE = "Tensors are dense; use a dense Tensor"
_LOOP = "call the function in a loop, or write it for a whole batch"
_COMPILED = "decorate the function with @gradscribe.differentiable"
_PROFILED = "use gradscribe.autograd.profiler.profile, or a profiler of Python's"
_LINALG = "the functions of numpy.linalg take Tensors, and record what they do"
_FILES = "Tensors can be pickled; arrays are saved with numpy.save"

_OF_MODULE = {
    "autocast": "choose the dtypes yourself",
    "backends": _DEVICES,
    "compile": _COMPILED,
    "bfloat16": "NumPy has no such type; use float32",
    "distributed": "run several processes with multiprocessing, and add the gradients up",
    "eig": _LINALG,
    "fx": "gradscribe.trace shows what one run of a function does",
    "jit": _COMPILED,
    "load": _FILES,
    "lstsq": _LINALG,
    "mps": _DEVICES,
    "multiprocessing": "use Python's own module multiprocessing; Tensors can be pickled",
    "nested": "use a list of Tensors",
    "optim": "subtract the gradients from the parameters, under gradscribe.no_grad()",
    "onnx": "a specialization has the generated source, which needs only NumPy",
    "profiler": _PROFILED,
    "quantization": "use Tensors of a floating dtype",
    "save": _FILES,
    "solve": _LINALG,
    "sparse": _SPARSE,
    "sparse_bsc_tensor": _SPARSE,
    "sparse_bsr_tensor": _SPARSE,
    "sparse_coo_tensor": _SPARSE,
    "sparse_csc_tensor": _SPARSE,
    "sparse_csr_tensor": _SPARSE,
    "symeig": _LINALG,
    "vmap": _LOOP,
    "xpu": _DEVICES,
}
_OF_FUNCTIONS = {
    "NestedIOFunction": "derive from Function, whose methods take and return Tensors",
}
_SELECTIVE = "every operation of a checkpoint runs again; call `checkpoint` on what may"
_OF_CHECKPOINTS = dict.fromkeys(
    (
        "CheckpointPolicy",
        "SAC_IGNORED_OPS",
        "SelectiveCheckpointContext",
        "create_selective_checkpoint_contexts",
    ),
    _SELECTIVE,
)
_OF_TENSOR = {
    "bfloat16": "NumPy has no such type; use `.float()`",
    "cuda": _DEVICES,
    **dict.fromkeys(("eig", "lstsq", "solve", "symeig"), _LINALG),
    "pin_memory": _DEVICES,
    "share_memory_": "use numpy and multiprocessing.shared_memory, and gs.from_numpy",
    "to_mkldnn": _DEVICES,
    "to_sparse": _SPARSE,
    "to_sparse_bsc": _SPARSE,
    "to_sparse_bsr": _SPARSE,
    "to_sparse_coo": _SPARSE,
    "to_sparse_csc": _SPARSE,
    "to_sparse_csr": _SPARSE,
}


def absent_from_module(name: str) -> AttributeError:
    """The error for a name that `gradscribe` has not."""
    return _error("module 'gradscribe'", name, _OF_MODULE)


def absent_from_functions(name: str) -> AttributeError:
    """The error for a name that `gradscribe.autograd.function` has not."""
    return _error("module 'gradscribe.autograd.function'", name, _OF_FUNCTIONS)


def absent_from_checkpoints(name: str) -> AttributeError:
    """The error for a name that `gradscribe.utils.checkpoint` has not."""
    return _error("module 'gradscribe.utils.checkpoint'", name, _OF_CHECKPOINTS)


def absent_from_tensor(name: str) -> AttributeError:
    """The error for an attribute that Tensors have not."""
    return _error("'Tensor' object", name, _OF_TENSOR)


def _error(owner: str, name: str, advice: dict[str, str]) -> AttributeError:
    text = f"{owner} has no attribute '{name}'"
    return AttributeError(f"{text}: {advice[name]}" if name in advice else text)
