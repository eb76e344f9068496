"""Products with weights, rows of tables, distances, and attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.graph import grad_mode
from gradscribe.runtime.operations import calculus, inplace, products, shaping
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.promotion import alike
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.torchlike.nn.formulas import attention as formulas
from gradscribe.torchlike.nn.functional import dropouts

# fmt: off
__all__ = [
    "bilinear", "cosine_similarity", "embedding", "linear", "one_hot", "pairwise_distance", "pdist",
    "scaled_dot_product_attention",
]
# fmt: on

_LINEAR = Operation("Linear", formulas.linear)
_BILINEAR = Operation("Trilinear", formulas.bilinear)
_WEIGHTS = Operation("Softmax", formulas.attention_weights, ("scale",), saved=("dim:axis result",))
_ROWS = Operation("Embedding", formulas.taken_rows, ("padding", "by_frequency"))

cosine_similarity = calculus.cosine_similarity
pairwise_distance = calculus.pairwise_distance
pdist = calculus.pdist


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias."""
    if input.shape[-1] != weight.shape[-1]:
        rows = math.prod(input.shape[:-1])
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input.shape[-1]} and "
            f"{weight.shape[-1]}x{weight.shape[0]})"
        )
    input, weight, *biases = alike((input, weight) if bias is None else (input, weight, bias))
    if weight.ndim != 2:
        return apply(_LINEAR, (input, weight, *biases))
    *lengths, width = input.shape
    rows = input if len(lengths) == 1 else shaping.reshape(input, (math.prod(lengths), width))
    columns = shaping.t(weight)
    product = products.addmm(biases[0], rows, columns) if biases else functions.mm(rows, columns)
    return product if len(lengths) == 1 else shaping.reshape(product, (*lengths, len(weight)))


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1 @ weight[k] @ input2 for each k, plus a bias."""
    biases = () if bias is None else (bias,)
    return apply(_BILINEAR, alike((input1, input2, weight, *biases)))


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of the weight at these indices. padding_idx: the row that has no derivative.
    max_norm: rows that are longer are first shortened, in the weight itself. scale_grad_by_freq:
    the derivative of a row is divided by how often it is taken."""
    if len(weight.shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    count = weight.shape[0]
    if padding_idx is not None and not -count <= padding_idx < count:
        raise AssertionError("Padding_idx must be within num_embeddings")
    _check_rows(input, count)
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    padding = None if padding_idx is None else padding_idx % count
    return apply(_ROWS, (weight, input), (padding, scale_grad_by_freq))


def _check_rows(index: Tensor, count: int) -> None:
    """PyTorch's errors for what is no index of a row."""
    places = np.ravel(index.array)
    if places.dtype != np.int64 and places.dtype != np.int32:
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {dtypes.type_name(places.dtype)} instead (while checking "
            "arguments for embedding)"
        )
    if np.any((places < 0) | (places >= count)):
        raise IndexError("index out of range in self")


def _shorten(weight: Tensor, index: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows at these indices that are longer than max_norm to that length."""
    with grad_mode.no_grad():
        used = np.unique(index.array)
        rows = weight.array[used]
        size = np.linalg.norm(rows, norm_type, axis=-1, keepdims=True)
        changed = weight.array.copy()
        changed[used] = np.where(size > max_norm, rows * (max_norm / (size + 1e-7)), rows)
        inplace.assign(weight.detach(), changed)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """For each class a row that is 1 there, and 0 elsewhere."""
    if tensor.array.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    classes = tensor.array
    if classes.size == 0 and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if classes.size and classes.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    count = int(classes.max()) + 1 if num_classes == -1 else num_classes
    if classes.size and classes.max() >= count:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return wrap((classes[..., None] == np.arange(count)).astype(dtypes.int64))


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    generator: dropouts.Source | None = None,
) -> Tensor:
    """softmax(scale * query @ key.T + mask) @ value. attn_mask: what is added, or (of truth values)
    where keys are seen; is_causal: keys up to the place of the query are."""
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
            "is_causal=True"
        )
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    if enable_gqa:
        copies = query.shape[-3] // key.shape[-3]
        key, value = (each.repeat_interleave(copies, -3) for each in (key, value))
    bias = _bias(query, key, attn_mask, is_causal)
    operands = (query, key) if bias is None else (query, key, bias)
    weights = apply(_WEIGHTS, operands, (factor,))
    if dropout_p > 0:
        weights = dropouts.dropout(weights, dropout_p, generator=generator)
    return functions.matmul(weights, value)


def _bias(query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool) -> Any:
    """What is added to the products of queries and keys."""
    if is_causal:
        seen = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        return wrap(np.where(seen, 0, -np.inf).astype(query.array.dtype))
    if mask is None or mask.array.dtype != np.bool_:
        return mask
    return wrap(np.where(mask.array, 0, -np.inf).astype(query.array.dtype))
