"""Products with weights, rows of tables, distances, and attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.rows import FUNCTION
from gradscribe.runtime.graph import grad_mode
from gradscribe.runtime.operations import calculus, inplace, products, shaping
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.promotion import alike
from gradscribe.runtime.tensors.randomness import Generator
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.torchlike.nn.formulas import attention as formulas
from gradscribe.torchlike.nn.functional.dropouts import dropout
from gradscribe.torchlike.nn.functional.rows import FUNCTIONAL

_LINEAR = Operation("Linear", formulas.linear)
_BILINEAR = Operation("Trilinear", formulas.bilinear)
_WEIGHTS = Operation("Softmax", formulas.attention_weights, ("scale",), saved=("dim:axis result",))
_ROWS = Operation("Embedding", formulas.taken_rows, ("padding", "by_frequency"))

FUNCTIONAL.also("cosine_similarity", calculus.cosine_similarity, FUNCTION)
FUNCTIONAL.also("pairwise_distance", calculus.pairwise_distance, FUNCTION)
FUNCTIONAL.also("pdist", calculus.pdist, FUNCTION)


@FUNCTIONAL.operation(shapes="(…, k), (m, k) or (k), (m)? -> (…, m)")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias. RuntimeError where the last axes of input and weight differ."""
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


@FUNCTIONAL.operation(shapes="(…, k), (…, l), (m, k, l), (m)? -> (…, m)")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1 @ weight[i] @ input2 + bias[i], for each i along the last axis of the result."""
    biases = () if bias is None else (bias,)
    return apply(_BILINEAR, alike((input1, input2, weight, *biases)))


@FUNCTIONAL.operation(shapes="(…), (n, k) -> (…, k)", dtypes="that of weight")
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """weight[i], for each index i of input.

    padding_idx: the row that has no derivative. max_norm: rows whose norm_type-norm is greater are
    first shortened to it, in the weight itself. scale_grad_by_freq: the derivative of a row is
    divided by how often it is taken. sparse: has no effect. RuntimeError for a weight that is no
    matrix and for indices that are no integers, IndexError for those that are outside,
    AssertionError for such a padding_idx.
    """
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


@FUNCTIONAL.operation(shapes="(…) -> (…, num_classes)", dtypes="int64")
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """For each class a row that is 1 there, and 0 elsewhere. num_classes: by default (-1), as many
    as the greatest class needs. RuntimeError for what is no class."""
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


@FUNCTIONAL.operation(shapes="(…, n, k), (…, m, k), (…, m, l), (…, n, m)? -> (…, n, l)")
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
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """softmax(scale * query @ key.T + attn_mask) @ value.

    attn_mask: what is added, or (of truth values) where keys are seen. dropout_p: the probability
    of zeros among the weights. is_causal: keys up to the place of the query are seen; RuntimeError
    if there is a mask, too. scale: by default 1 / √k. enable_gqa: each key and value serves so many
    queries, along axis -3. generator: where random numbers come from.
    """
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
        weights = dropout(weights, dropout_p, generator=generator)
    return functions.matmul(weights, value)


def _bias(query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool) -> Any:
    """What is added to the products of queries and keys."""
    if is_causal:
        seen = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        return wrap(np.where(seen, 0, -np.inf).astype(query.array.dtype))
    if mask is None or mask.array.dtype != np.bool_:
        return mask
    return wrap(np.where(mask.array, 0, -np.inf).astype(query.array.dtype))
