"""The names that the runtime gives to `gs`, for editors and type checkers."""

import builtins
from collections.abc import Callable
from typing import Any

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.dtypes import device as device
from gradscribe.runtime.arrays.dtypes import finfo as finfo
from gradscribe.runtime.arrays.dtypes import get_default_dtype as get_default_dtype
from gradscribe.runtime.arrays.dtypes import iinfo as iinfo
from gradscribe.runtime.arrays.dtypes import layout as layout
from gradscribe.runtime.arrays.dtypes import memory_format as memory_format
from gradscribe.runtime.arrays.dtypes import set_default_dtype as set_default_dtype
from gradscribe.runtime.arrays.dtypes import strided as strided
from gradscribe.runtime.arrays.memory_formats import channels_last as channels_last
from gradscribe.runtime.arrays.memory_formats import contiguous_format as contiguous_format
from gradscribe.runtime.arrays.printing import set_printoptions as set_printoptions
from gradscribe.runtime.arrays.size import Size as Size
from gradscribe.runtime.graph.anomaly import (
    is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
)
from gradscribe.runtime.graph.anomaly import is_anomaly_enabled as is_anomaly_enabled
from gradscribe.runtime.graph.anomaly import set_anomaly_enabled as set_anomaly_enabled
from gradscribe.runtime.graph.grad_mode import enable_grad as enable_grad
from gradscribe.runtime.graph.grad_mode import is_grad_enabled as is_grad_enabled
from gradscribe.runtime.graph.grad_mode import no_grad as no_grad
from gradscribe.runtime.graph.grad_mode import set_grad_enabled as set_grad_enabled
from gradscribe.runtime.graph.inference import inference_mode as inference_mode
from gradscribe.runtime.graph.inference import is_inference as is_inference
from gradscribe.runtime.graph.inference import (
    is_inference_mode_enabled as is_inference_mode_enabled,
)
from gradscribe.runtime.in_place_names import fill as fill
from gradscribe.runtime.operations.activations import celu as celu
from gradscribe.runtime.operations.activations import dropout as dropout
from gradscribe.runtime.operations.activations import hardshrink as hardshrink
from gradscribe.runtime.operations.activations import prelu as prelu
from gradscribe.runtime.operations.activations import rrelu as rrelu
from gradscribe.runtime.operations.activations import selu as selu
from gradscribe.runtime.operations.activations import threshold as threshold
from gradscribe.runtime.operations.calculus import combinations as combinations
from gradscribe.runtime.operations.calculus import cosine_similarity as cosine_similarity
from gradscribe.runtime.operations.calculus import cumulative_trapezoid as cumulative_trapezoid
from gradscribe.runtime.operations.calculus import diff as diff
from gradscribe.runtime.operations.calculus import frexp as frexp
from gradscribe.runtime.operations.calculus import frobenius_norm as frobenius_norm
from gradscribe.runtime.operations.calculus import gradient as gradient
from gradscribe.runtime.operations.calculus import heaviside as heaviside
from gradscribe.runtime.operations.calculus import ldexp as ldexp
from gradscribe.runtime.operations.calculus import norm_except_dim as norm_except_dim
from gradscribe.runtime.operations.calculus import nuclear_norm as nuclear_norm
from gradscribe.runtime.operations.calculus import pairwise_distance as pairwise_distance
from gradscribe.runtime.operations.calculus import pdist as pdist
from gradscribe.runtime.operations.calculus import renorm as renorm
from gradscribe.runtime.operations.calculus import sum_to_size as sum_to_size
from gradscribe.runtime.operations.calculus import trapezoid as trapezoid
from gradscribe.runtime.operations.calculus import trapz as trapz
from gradscribe.runtime.operations.calculus import vander as vander
from gradscribe.runtime.operations.common import abs as abs
from gradscribe.runtime.operations.common import acos as acos
from gradscribe.runtime.operations.common import acosh as acosh
from gradscribe.runtime.operations.common import add as add
from gradscribe.runtime.operations.common import all as all
from gradscribe.runtime.operations.common import amax as amax
from gradscribe.runtime.operations.common import amin as amin
from gradscribe.runtime.operations.common import any as any
from gradscribe.runtime.operations.common import argmax as argmax
from gradscribe.runtime.operations.common import argmin as argmin
from gradscribe.runtime.operations.common import asin as asin
from gradscribe.runtime.operations.common import asinh as asinh
from gradscribe.runtime.operations.common import atan as atan
from gradscribe.runtime.operations.common import atan2 as atan2
from gradscribe.runtime.operations.common import atanh as atanh
from gradscribe.runtime.operations.common import bitwise_and as bitwise_and
from gradscribe.runtime.operations.common import bitwise_left_shift as bitwise_left_shift
from gradscribe.runtime.operations.common import bitwise_not as bitwise_not
from gradscribe.runtime.operations.common import bitwise_or as bitwise_or
from gradscribe.runtime.operations.common import bitwise_right_shift as bitwise_right_shift
from gradscribe.runtime.operations.common import bitwise_xor as bitwise_xor
from gradscribe.runtime.operations.common import bmm as bmm
from gradscribe.runtime.operations.common import ceil as ceil
from gradscribe.runtime.operations.common import clamp as clamp
from gradscribe.runtime.operations.common import clamp_max as clamp_max
from gradscribe.runtime.operations.common import clamp_min as clamp_min
from gradscribe.runtime.operations.common import clip as clip
from gradscribe.runtime.operations.common import clone as clone
from gradscribe.runtime.operations.common import copysign as copysign
from gradscribe.runtime.operations.common import cos as cos
from gradscribe.runtime.operations.common import cosh as cosh
from gradscribe.runtime.operations.common import count_nonzero as count_nonzero
from gradscribe.runtime.operations.common import cumprod as cumprod
from gradscribe.runtime.operations.common import cumsum as cumsum
from gradscribe.runtime.operations.common import deg2rad as deg2rad
from gradscribe.runtime.operations.common import div as div
from gradscribe.runtime.operations.common import divide as divide
from gradscribe.runtime.operations.common import dot as dot
from gradscribe.runtime.operations.common import eq as eq
from gradscribe.runtime.operations.common import exp as exp
from gradscribe.runtime.operations.common import exp2 as exp2
from gradscribe.runtime.operations.common import expm1 as expm1
from gradscribe.runtime.operations.common import float_power as float_power
from gradscribe.runtime.operations.common import floor as floor
from gradscribe.runtime.operations.common import floor_divide as floor_divide
from gradscribe.runtime.operations.common import fmax as fmax
from gradscribe.runtime.operations.common import fmin as fmin
from gradscribe.runtime.operations.common import fmod as fmod
from gradscribe.runtime.operations.common import frac as frac
from gradscribe.runtime.operations.common import gcd as gcd
from gradscribe.runtime.operations.common import ge as ge
from gradscribe.runtime.operations.common import ger as ger
from gradscribe.runtime.operations.common import gt as gt
from gradscribe.runtime.operations.common import hypot as hypot
from gradscribe.runtime.operations.common import inner as inner
from gradscribe.runtime.operations.common import isfinite as isfinite
from gradscribe.runtime.operations.common import isinf as isinf
from gradscribe.runtime.operations.common import isnan as isnan
from gradscribe.runtime.operations.common import isneginf as isneginf
from gradscribe.runtime.operations.common import isposinf as isposinf
from gradscribe.runtime.operations.common import isreal as isreal
from gradscribe.runtime.operations.common import lcm as lcm
from gradscribe.runtime.operations.common import le as le
from gradscribe.runtime.operations.common import log as log
from gradscribe.runtime.operations.common import log1p as log1p
from gradscribe.runtime.operations.common import log2 as log2
from gradscribe.runtime.operations.common import log10 as log10
from gradscribe.runtime.operations.common import log_softmax as log_softmax
from gradscribe.runtime.operations.common import logaddexp as logaddexp
from gradscribe.runtime.operations.common import logaddexp2 as logaddexp2
from gradscribe.runtime.operations.common import logcumsumexp as logcumsumexp
from gradscribe.runtime.operations.common import logical_and as logical_and
from gradscribe.runtime.operations.common import logical_not as logical_not
from gradscribe.runtime.operations.common import logical_or as logical_or
from gradscribe.runtime.operations.common import logical_xor as logical_xor
from gradscribe.runtime.operations.common import logit as logit
from gradscribe.runtime.operations.common import logsigmoid as logsigmoid
from gradscribe.runtime.operations.common import logsumexp as logsumexp
from gradscribe.runtime.operations.common import lt as lt
from gradscribe.runtime.operations.common import matmul as matmul
from gradscribe.runtime.operations.common import maximum as maximum
from gradscribe.runtime.operations.common import mean as mean
from gradscribe.runtime.operations.common import minimum as minimum
from gradscribe.runtime.operations.common import mm as mm
from gradscribe.runtime.operations.common import mul as mul
from gradscribe.runtime.operations.common import mv as mv
from gradscribe.runtime.operations.common import nan_to_num as nan_to_num
from gradscribe.runtime.operations.common import nanmean as nanmean
from gradscribe.runtime.operations.common import nansum as nansum
from gradscribe.runtime.operations.common import ne as ne
from gradscribe.runtime.operations.common import neg as neg
from gradscribe.runtime.operations.common import nextafter as nextafter
from gradscribe.runtime.operations.common import norm as norm
from gradscribe.runtime.operations.common import outer as outer
from gradscribe.runtime.operations.common import positive as positive
from gradscribe.runtime.operations.common import pow as pow
from gradscribe.runtime.operations.common import prod as prod
from gradscribe.runtime.operations.common import rad2deg as rad2deg
from gradscribe.runtime.operations.common import reciprocal as reciprocal
from gradscribe.runtime.operations.common import relu as relu
from gradscribe.runtime.operations.common import remainder as remainder
from gradscribe.runtime.operations.common import rint as rint
from gradscribe.runtime.operations.common import round as round
from gradscribe.runtime.operations.common import rsqrt as rsqrt
from gradscribe.runtime.operations.common import rsub as rsub
from gradscribe.runtime.operations.common import sgn as sgn
from gradscribe.runtime.operations.common import sigmoid as sigmoid
from gradscribe.runtime.operations.common import sign as sign
from gradscribe.runtime.operations.common import signbit as signbit
from gradscribe.runtime.operations.common import sin as sin
from gradscribe.runtime.operations.common import sinc as sinc
from gradscribe.runtime.operations.common import sinh as sinh
from gradscribe.runtime.operations.common import softmax as softmax
from gradscribe.runtime.operations.common import softplus as softplus
from gradscribe.runtime.operations.common import sqrt as sqrt
from gradscribe.runtime.operations.common import square as square
from gradscribe.runtime.operations.common import std as std
from gradscribe.runtime.operations.common import std_mean as std_mean
from gradscribe.runtime.operations.common import sub as sub
from gradscribe.runtime.operations.common import sum as sum
from gradscribe.runtime.operations.common import tan as tan
from gradscribe.runtime.operations.common import tanh as tanh
from gradscribe.runtime.operations.common import true_divide as true_divide
from gradscribe.runtime.operations.common import trunc as trunc
from gradscribe.runtime.operations.common import var as var
from gradscribe.runtime.operations.common import var_mean as var_mean
from gradscribe.runtime.operations.common import vdot as vdot
from gradscribe.runtime.operations.common import where as where
from gradscribe.runtime.operations.common import xlogy as xlogy
from gradscribe.runtime.operations.complex_numbers import angle as angle
from gradscribe.runtime.operations.complex_numbers import complex as complex
from gradscribe.runtime.operations.complex_numbers import conj as conj
from gradscribe.runtime.operations.complex_numbers import conj_physical as conj_physical
from gradscribe.runtime.operations.complex_numbers import imag as imag
from gradscribe.runtime.operations.complex_numbers import polar as polar
from gradscribe.runtime.operations.complex_numbers import real as real
from gradscribe.runtime.operations.complex_numbers import view_as_complex as view_as_complex
from gradscribe.runtime.operations.complex_numbers import view_as_real as view_as_real
from gradscribe.runtime.operations.distinct import unique as unique
from gradscribe.runtime.operations.distinct import unique_consecutive as unique_consecutive
from gradscribe.runtime.operations.factorizations import cholesky as cholesky
from gradscribe.runtime.operations.factorizations import cholesky_inverse as cholesky_inverse
from gradscribe.runtime.operations.factorizations import cholesky_solve as cholesky_solve
from gradscribe.runtime.operations.factorizations import det as det
from gradscribe.runtime.operations.factorizations import geqrf as geqrf
from gradscribe.runtime.operations.factorizations import inverse as inverse
from gradscribe.runtime.operations.factorizations import logdet as logdet
from gradscribe.runtime.operations.factorizations import lu as lu
from gradscribe.runtime.operations.factorizations import lu_solve as lu_solve
from gradscribe.runtime.operations.factorizations import lu_unpack as lu_unpack
from gradscribe.runtime.operations.factorizations import matrix_exp as matrix_exp
from gradscribe.runtime.operations.factorizations import matrix_power as matrix_power
from gradscribe.runtime.operations.factorizations import orgqr as orgqr
from gradscribe.runtime.operations.factorizations import ormqr as ormqr
from gradscribe.runtime.operations.factorizations import pinverse as pinverse
from gradscribe.runtime.operations.factorizations import qr as qr
from gradscribe.runtime.operations.factorizations import slogdet as slogdet
from gradscribe.runtime.operations.factorizations import svd as svd
from gradscribe.runtime.operations.factorizations import triangular_solve as triangular_solve
from gradscribe.runtime.operations.gathering import gather as gather
from gradscribe.runtime.operations.gathering import index_put as index_put
from gradscribe.runtime.operations.gathering import masked_fill as masked_fill
from gradscribe.runtime.operations.gathering import masked_scatter as masked_scatter
from gradscribe.runtime.operations.gathering import masked_select as masked_select
from gradscribe.runtime.operations.gathering import put as put
from gradscribe.runtime.operations.gathering import scatter as scatter
from gradscribe.runtime.operations.gathering import scatter_add as scatter_add
from gradscribe.runtime.operations.gathering import scatter_reduce as scatter_reduce
from gradscribe.runtime.operations.gathering import take as take
from gradscribe.runtime.operations.gathering import take_along_dim as take_along_dim
from gradscribe.runtime.operations.joining import atleast_1d as atleast_1d
from gradscribe.runtime.operations.joining import atleast_2d as atleast_2d
from gradscribe.runtime.operations.joining import atleast_3d as atleast_3d
from gradscribe.runtime.operations.joining import block_diag as block_diag
from gradscribe.runtime.operations.joining import broadcast_shapes as broadcast_shapes
from gradscribe.runtime.operations.joining import cartesian_prod as cartesian_prod
from gradscribe.runtime.operations.joining import column_stack as column_stack
from gradscribe.runtime.operations.joining import dstack as dstack
from gradscribe.runtime.operations.joining import hstack as hstack
from gradscribe.runtime.operations.joining import meshgrid as meshgrid
from gradscribe.runtime.operations.joining import row_stack as row_stack
from gradscribe.runtime.operations.joining import vstack as vstack
from gradscribe.runtime.operations.ordering import aminmax as aminmax
from gradscribe.runtime.operations.ordering import argsort as argsort
from gradscribe.runtime.operations.ordering import argwhere as argwhere
from gradscribe.runtime.operations.ordering import bincount as bincount
from gradscribe.runtime.operations.ordering import bucketize as bucketize
from gradscribe.runtime.operations.ordering import cummax as cummax
from gradscribe.runtime.operations.ordering import cummin as cummin
from gradscribe.runtime.operations.ordering import histc as histc
from gradscribe.runtime.operations.ordering import histogram as histogram
from gradscribe.runtime.operations.ordering import isin as isin
from gradscribe.runtime.operations.ordering import kthvalue as kthvalue
from gradscribe.runtime.operations.ordering import max as max
from gradscribe.runtime.operations.ordering import median as median
from gradscribe.runtime.operations.ordering import min as min
from gradscribe.runtime.operations.ordering import mode as mode
from gradscribe.runtime.operations.ordering import msort as msort
from gradscribe.runtime.operations.ordering import nanmedian as nanmedian
from gradscribe.runtime.operations.ordering import nanquantile as nanquantile
from gradscribe.runtime.operations.ordering import nonzero as nonzero
from gradscribe.runtime.operations.ordering import nonzero_static as nonzero_static
from gradscribe.runtime.operations.ordering import quantile as quantile
from gradscribe.runtime.operations.ordering import searchsorted as searchsorted
from gradscribe.runtime.operations.ordering import sort as sort
from gradscribe.runtime.operations.ordering import topk as topk
from gradscribe.runtime.operations.products import addbmm as addbmm
from gradscribe.runtime.operations.products import addcdiv as addcdiv
from gradscribe.runtime.operations.products import addcmul as addcmul
from gradscribe.runtime.operations.products import addmm as addmm
from gradscribe.runtime.operations.products import addmv as addmv
from gradscribe.runtime.operations.products import addr as addr
from gradscribe.runtime.operations.products import baddbmm as baddbmm
from gradscribe.runtime.operations.products import cdist as cdist
from gradscribe.runtime.operations.products import chain_matmul as chain_matmul
from gradscribe.runtime.operations.products import corrcoef as corrcoef
from gradscribe.runtime.operations.products import cov as cov
from gradscribe.runtime.operations.products import cross as cross
from gradscribe.runtime.operations.products import dist as dist
from gradscribe.runtime.operations.products import einsum as einsum
from gradscribe.runtime.operations.products import kron as kron
from gradscribe.runtime.operations.products import lerp as lerp
from gradscribe.runtime.operations.products import tensordot as tensordot
from gradscribe.runtime.operations.rearranging import channel_shuffle as channel_shuffle
from gradscribe.runtime.operations.rearranging import constant_pad_nd as constant_pad_nd
from gradscribe.runtime.operations.rearranging import pixel_shuffle as pixel_shuffle
from gradscribe.runtime.operations.rearranging import pixel_unshuffle as pixel_unshuffle
from gradscribe.runtime.operations.scattering import alias_copy as alias_copy
from gradscribe.runtime.operations.scattering import as_strided_copy as as_strided_copy
from gradscribe.runtime.operations.scattering import as_strided_scatter as as_strided_scatter
from gradscribe.runtime.operations.scattering import detach_copy as detach_copy
from gradscribe.runtime.operations.scattering import diagonal_copy as diagonal_copy
from gradscribe.runtime.operations.scattering import diagonal_scatter as diagonal_scatter
from gradscribe.runtime.operations.scattering import expand_copy as expand_copy
from gradscribe.runtime.operations.scattering import narrow_copy as narrow_copy
from gradscribe.runtime.operations.scattering import permute_copy as permute_copy
from gradscribe.runtime.operations.scattering import select_copy as select_copy
from gradscribe.runtime.operations.scattering import select_scatter as select_scatter
from gradscribe.runtime.operations.scattering import slice_copy as slice_copy
from gradscribe.runtime.operations.scattering import slice_scatter as slice_scatter
from gradscribe.runtime.operations.scattering import split_copy as split_copy
from gradscribe.runtime.operations.scattering import split_with_sizes_copy as split_with_sizes_copy
from gradscribe.runtime.operations.scattering import squeeze_copy as squeeze_copy
from gradscribe.runtime.operations.scattering import t_copy as t_copy
from gradscribe.runtime.operations.scattering import transpose_copy as transpose_copy
from gradscribe.runtime.operations.scattering import unbind_copy as unbind_copy
from gradscribe.runtime.operations.scattering import unfold_copy as unfold_copy
from gradscribe.runtime.operations.scattering import unsafe_chunk as unsafe_chunk
from gradscribe.runtime.operations.scattering import unsafe_split as unsafe_split
from gradscribe.runtime.operations.scattering import (
    unsafe_split_with_sizes as unsafe_split_with_sizes,
)
from gradscribe.runtime.operations.scattering import unsqueeze_copy as unsqueeze_copy
from gradscribe.runtime.operations.scattering import view_copy as view_copy
from gradscribe.runtime.operations.shaping import broadcast_to as broadcast_to
from gradscribe.runtime.operations.shaping import cat as cat
from gradscribe.runtime.operations.shaping import chunk as chunk
from gradscribe.runtime.operations.shaping import expand_dims as expand_dims
from gradscribe.runtime.operations.shaping import flatten as flatten
from gradscribe.runtime.operations.shaping import flip as flip
from gradscribe.runtime.operations.shaping import permute as permute
from gradscribe.runtime.operations.shaping import ravel as ravel
from gradscribe.runtime.operations.shaping import reshape as reshape
from gradscribe.runtime.operations.shaping import split as split
from gradscribe.runtime.operations.shaping import squeeze as squeeze
from gradscribe.runtime.operations.shaping import stack as stack
from gradscribe.runtime.operations.shaping import swapaxes as swapaxes
from gradscribe.runtime.operations.shaping import t as t
from gradscribe.runtime.operations.shaping import transpose as transpose
from gradscribe.runtime.operations.shaping import unbind as unbind
from gradscribe.runtime.operations.shaping import unsqueeze as unsqueeze
from gradscribe.runtime.operations.slices import index_add as index_add
from gradscribe.runtime.operations.slices import index_copy as index_copy
from gradscribe.runtime.operations.slices import index_fill as index_fill
from gradscribe.runtime.operations.slices import index_reduce as index_reduce
from gradscribe.runtime.operations.slices import index_select as index_select
from gradscribe.runtime.operations.special import digamma as digamma
from gradscribe.runtime.operations.special import erf as erf
from gradscribe.runtime.operations.special import erfc as erfc
from gradscribe.runtime.operations.special import erfinv as erfinv
from gradscribe.runtime.operations.special import i0 as i0
from gradscribe.runtime.operations.special import igamma as igamma
from gradscribe.runtime.operations.special import igammac as igammac
from gradscribe.runtime.operations.special import lgamma as lgamma
from gradscribe.runtime.operations.special import mvlgamma as mvlgamma
from gradscribe.runtime.operations.special import polygamma as polygamma
from gradscribe.runtime.operations.strides import as_strided as as_strided
from gradscribe.runtime.operations.viewing import adjoint as adjoint
from gradscribe.runtime.operations.viewing import broadcast_tensors as broadcast_tensors
from gradscribe.runtime.operations.viewing import diag as diag
from gradscribe.runtime.operations.viewing import diag_embed as diag_embed
from gradscribe.runtime.operations.viewing import diagflat as diagflat
from gradscribe.runtime.operations.viewing import diagonal as diagonal
from gradscribe.runtime.operations.viewing import dsplit as dsplit
from gradscribe.runtime.operations.viewing import fliplr as fliplr
from gradscribe.runtime.operations.viewing import flipud as flipud
from gradscribe.runtime.operations.viewing import hsplit as hsplit
from gradscribe.runtime.operations.viewing import moveaxis as moveaxis
from gradscribe.runtime.operations.viewing import movedim as movedim
from gradscribe.runtime.operations.viewing import narrow as narrow
from gradscribe.runtime.operations.viewing import repeat_interleave as repeat_interleave
from gradscribe.runtime.operations.viewing import roll as roll
from gradscribe.runtime.operations.viewing import rot90 as rot90
from gradscribe.runtime.operations.viewing import select as select
from gradscribe.runtime.operations.viewing import split_with_sizes as split_with_sizes
from gradscribe.runtime.operations.viewing import tensor_split as tensor_split
from gradscribe.runtime.operations.viewing import tile as tile
from gradscribe.runtime.operations.viewing import tril as tril
from gradscribe.runtime.operations.viewing import triu as triu
from gradscribe.runtime.operations.viewing import unflatten as unflatten
from gradscribe.runtime.operations.viewing import vsplit as vsplit
from gradscribe.runtime.operations.windows import bartlett_window as bartlett_window
from gradscribe.runtime.operations.windows import blackman_window as blackman_window
from gradscribe.runtime.operations.windows import hamming_window as hamming_window
from gradscribe.runtime.operations.windows import hann_window as hann_window
from gradscribe.runtime.operations.windows import istft as istft
from gradscribe.runtime.operations.windows import kaiser_window as kaiser_window
from gradscribe.runtime.operations.windows import stft as stft
from gradscribe.runtime.tensors.creation import arange as arange
from gradscribe.runtime.tensors.creation import empty as empty
from gradscribe.runtime.tensors.creation import empty_like as empty_like
from gradscribe.runtime.tensors.creation import empty_strided as empty_strided
from gradscribe.runtime.tensors.creation import eye as eye
from gradscribe.runtime.tensors.creation import full as full
from gradscribe.runtime.tensors.creation import full_like as full_like
from gradscribe.runtime.tensors.creation import linspace as linspace
from gradscribe.runtime.tensors.creation import logspace as logspace
from gradscribe.runtime.tensors.creation import ones as ones
from gradscribe.runtime.tensors.creation import ones_like as ones_like
from gradscribe.runtime.tensors.creation import range as range
from gradscribe.runtime.tensors.creation import scalar_tensor as scalar_tensor
from gradscribe.runtime.tensors.creation import tensor as tensor
from gradscribe.runtime.tensors.creation import tril_indices as tril_indices
from gradscribe.runtime.tensors.creation import triu_indices as triu_indices
from gradscribe.runtime.tensors.creation import zeros as zeros
from gradscribe.runtime.tensors.creation import zeros_like as zeros_like
from gradscribe.runtime.tensors.promotion import can_cast as can_cast
from gradscribe.runtime.tensors.promotion import promote_types as promote_types
from gradscribe.runtime.tensors.promotion import result_type as result_type
from gradscribe.runtime.tensors.queries import allclose as allclose
from gradscribe.runtime.tensors.queries import array_equal as array_equal
from gradscribe.runtime.tensors.queries import equal as equal
from gradscribe.runtime.tensors.queries import is_complex as is_complex
from gradscribe.runtime.tensors.queries import is_conj as is_conj
from gradscribe.runtime.tensors.queries import is_distributed as is_distributed
from gradscribe.runtime.tensors.queries import is_floating_point as is_floating_point
from gradscribe.runtime.tensors.queries import is_neg as is_neg
from gradscribe.runtime.tensors.queries import is_nonzero as is_nonzero
from gradscribe.runtime.tensors.queries import is_same_size as is_same_size
from gradscribe.runtime.tensors.queries import is_signed as is_signed
from gradscribe.runtime.tensors.queries import is_tensor as is_tensor
from gradscribe.runtime.tensors.queries import isclose as isclose
from gradscribe.runtime.tensors.queries import numel as numel
from gradscribe.runtime.tensors.queries import resolve_conj as resolve_conj
from gradscribe.runtime.tensors.queries import resolve_neg as resolve_neg
from gradscribe.runtime.tensors.queries import typename as typename
from gradscribe.runtime.tensors.queries import unravel_index as unravel_index
from gradscribe.runtime.tensors.randomness import Generator as Generator
from gradscribe.runtime.tensors.randomness import bernoulli as bernoulli
from gradscribe.runtime.tensors.randomness import binomial as binomial
from gradscribe.runtime.tensors.randomness import default_generator as default_generator
from gradscribe.runtime.tensors.randomness import get_rng_state as get_rng_state
from gradscribe.runtime.tensors.randomness import initial_seed as initial_seed
from gradscribe.runtime.tensors.randomness import manual_seed as manual_seed
from gradscribe.runtime.tensors.randomness import multinomial as multinomial
from gradscribe.runtime.tensors.randomness import normal as normal
from gradscribe.runtime.tensors.randomness import poisson as poisson
from gradscribe.runtime.tensors.randomness import rand as rand
from gradscribe.runtime.tensors.randomness import rand_like as rand_like
from gradscribe.runtime.tensors.randomness import randint as randint
from gradscribe.runtime.tensors.randomness import randint_like as randint_like
from gradscribe.runtime.tensors.randomness import randn as randn
from gradscribe.runtime.tensors.randomness import randn_like as randn_like
from gradscribe.runtime.tensors.randomness import randperm as randperm
from gradscribe.runtime.tensors.randomness import seed as seed
from gradscribe.runtime.tensors.randomness import set_rng_state as set_rng_state
from gradscribe.runtime.tensors.sharing import as_tensor as as_tensor
from gradscribe.runtime.tensors.sharing import asarray as asarray
from gradscribe.runtime.tensors.sharing import from_dlpack as from_dlpack
from gradscribe.runtime.tensors.sharing import from_numpy as from_numpy
from gradscribe.runtime.tensors.sharing import frombuffer as frombuffer
from gradscribe.runtime.tensors.tensor import Tensor as Tensor

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "Generator",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "Size",
    "Tensor",
    "abs",
    "abs_",
    "absolute",
    "acos",
    "acos_",
    "acosh",
    "acosh_",
    "add",
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "addmv_",
    "addr",
    "adjoint",
    "alias_copy",
    "all",
    "allclose",
    "amax",
    "amin",
    "aminmax",
    "angle",
    "any",
    "arange",
    "arccos",
    "arccos_",
    "arccosh",
    "arccosh_",
    "arcsin",
    "arcsin_",
    "arcsinh",
    "arcsinh_",
    "arctan",
    "arctan2",
    "arctan_",
    "arctanh",
    "arctanh_",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "array_equal",
    "as_strided",
    "as_strided_",
    "as_strided_copy",
    "as_strided_scatter",
    "as_tensor",
    "asarray",
    "asin",
    "asin_",
    "asinh",
    "asinh_",
    "atan",
    "atan2",
    "atan_",
    "atanh",
    "atanh_",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "baddbmm",
    "bartlett_window",
    "bernoulli",
    "bincount",
    "binomial",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "blackman_window",
    "block_diag",
    "bmm",
    "bool",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "can_cast",
    "cartesian_prod",
    "cat",
    "cdist",
    "cdouble",
    "ceil",
    "ceil_",
    "celu",
    "celu_",
    "cfloat",
    "chain_matmul",
    "channel_shuffle",
    "channels_last",
    "channels_last_3d",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "chunk",
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_max_",
    "clamp_min",
    "clamp_min_",
    "clip",
    "clip_",
    "clone",
    "column_stack",
    "combinations",
    "complex",
    "complex64",
    "complex128",
    "concat",
    "concatenate",
    "conj",
    "conj_physical",
    "conj_physical_",
    "constant_pad_nd",
    "contiguous_format",
    "copysign",
    "corrcoef",
    "cos",
    "cos_",
    "cosh",
    "cosh_",
    "cosine_similarity",
    "count_nonzero",
    "cov",
    "cross",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "default_generator",
    "deg2rad",
    "deg2rad_",
    "degrees",
    "det",
    "detach",
    "detach_",
    "detach_copy",
    "device",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_copy",
    "diagonal_scatter",
    "diff",
    "digamma",
    "dist",
    "div",
    "divide",
    "dot",
    "double",
    "dropout",
    "dropout_",
    "dsplit",
    "dstack",
    "dtype",
    "e",
    "einsum",
    "empty",
    "empty_like",
    "empty_strided",
    "enable_grad",
    "eq",
    "equal",
    "erf",
    "erf_",
    "erfc",
    "erfc_",
    "erfinv",
    "exp",
    "exp2",
    "exp2_",
    "exp_",
    "expand_copy",
    "expand_dims",
    "expm1",
    "expm1_",
    "eye",
    "fill",
    "fill_",
    "finfo",
    "fix",
    "fix_",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float",
    "float16",
    "float32",
    "float64",
    "float_power",
    "floor",
    "floor_",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "frac_",
    "frexp",
    "frobenius_norm",
    "from_dlpack",
    "from_numpy",
    "frombuffer",
    "full",
    "full_like",
    "gather",
    "gcd",
    "gcd_",
    "ge",
    "geqrf",
    "ger",
    "get_default_dtype",
    "get_rng_state",
    "gradient",
    "greater",
    "greater_equal",
    "gt",
    "half",
    "hamming_window",
    "hann_window",
    "hardshrink",
    "heaviside",
    "histc",
    "histogram",
    "hsplit",
    "hstack",
    "hypot",
    "i0",
    "i0_",
    "igamma",
    "igammac",
    "iinfo",
    "imag",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_put_",
    "index_reduce",
    "index_select",
    "inf",
    "inference_mode",
    "initial_seed",
    "inner",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "inverse",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_complex",
    "is_conj",
    "is_distributed",
    "is_floating_point",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "is_neg",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_tensor",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "istft",
    "kaiser_window",
    "kron",
    "kthvalue",
    "layout",
    "lcm",
    "lcm_",
    "ldexp",
    "ldexp_",
    "le",
    "lerp",
    "less",
    "less_equal",
    "lgamma",
    "linspace",
    "log",
    "log1p",
    "log1p_",
    "log2",
    "log2_",
    "log10",
    "log10_",
    "log_",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logcumsumexp",
    "logdet",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logit_",
    "logsigmoid",
    "logspace",
    "logsumexp",
    "long",
    "lt",
    "lu",
    "lu_solve",
    "lu_unpack",
    "manual_seed",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "max",
    "maximum",
    "mean",
    "median",
    "memory_format",
    "meshgrid",
    "min",
    "minimum",
    "mm",
    "mod",
    "mode",
    "moveaxis",
    "movedim",
    "msort",
    "mul",
    "multinomial",
    "multiply",
    "mv",
    "mvlgamma",
    "nan",
    "nan_to_num",
    "nan_to_num_",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "narrow",
    "narrow_copy",
    "ne",
    "neg",
    "neg_",
    "negative",
    "negative_",
    "newaxis",
    "nextafter",
    "no_grad",
    "nonzero",
    "nonzero_static",
    "norm",
    "norm_except_dim",
    "normal",
    "not_equal",
    "nuclear_norm",
    "numel",
    "ones",
    "ones_like",
    "orgqr",
    "ormqr",
    "outer",
    "pairwise_distance",
    "pdist",
    "permute",
    "permute_copy",
    "pi",
    "pinverse",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson",
    "polar",
    "polygamma",
    "positive",
    "pow",
    "power",
    "prelu",
    "preserve_format",
    "prod",
    "promote_types",
    "put",
    "qr",
    "quantile",
    "rad2deg",
    "rad2deg_",
    "radians",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "range",
    "ravel",
    "real",
    "reciprocal",
    "reciprocal_",
    "relu",
    "relu_",
    "remainder",
    "renorm",
    "repeat_interleave",
    "reshape",
    "resolve_conj",
    "resolve_neg",
    "result_type",
    "rint",
    "roll",
    "rot90",
    "round",
    "round_",
    "row_stack",
    "rrelu",
    "rrelu_",
    "rsqrt",
    "rsqrt_",
    "rsub",
    "scalar_tensor",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "seed",
    "select",
    "select_copy",
    "select_scatter",
    "selu",
    "selu_",
    "set_anomaly_enabled",
    "set_default_dtype",
    "set_grad_enabled",
    "set_printoptions",
    "set_rng_state",
    "sgn",
    "short",
    "sigmoid",
    "sigmoid_",
    "sign",
    "signbit",
    "sin",
    "sin_",
    "sinc",
    "sinc_",
    "sinh",
    "sinh_",
    "slice_copy",
    "slice_scatter",
    "slogdet",
    "softmax",
    "softplus",
    "sort",
    "split",
    "split_copy",
    "split_with_sizes",
    "split_with_sizes_copy",
    "sqrt",
    "sqrt_",
    "square",
    "square_",
    "squeeze",
    "squeeze_copy",
    "stack",
    "std",
    "std_mean",
    "stft",
    "strided",
    "sub",
    "subtract",
    "sum",
    "sum_to_size",
    "svd",
    "swapaxes",
    "swapdims",
    "t",
    "t_copy",
    "take",
    "take_along_dim",
    "tan",
    "tan_",
    "tanh",
    "tanh_",
    "tensor",
    "tensor_split",
    "tensordot",
    "threshold",
    "threshold_",
    "tile",
    "topk",
    "transpose",
    "transpose_copy",
    "trapezoid",
    "trapz",
    "triangular_solve",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "true_divide",
    "trunc",
    "trunc_",
    "typename",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unbind",
    "unbind_copy",
    "unflatten",
    "unfold_copy",
    "unique",
    "unique_consecutive",
    "unravel_index",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsqueeze",
    "unsqueeze_copy",
    "vander",
    "var",
    "var_mean",
    "vdot",
    "view_as_complex",
    "view_as_real",
    "view_copy",
    "vsplit",
    "vstack",
    "where",
    "xlogy",
    "xlogy_",
    "zero_",
    "zeros",
    "zeros_like",
]

absolute: Callable[..., Tensor]
arccos: Callable[..., Tensor]
arccosh: Callable[..., Tensor]
arcsin: Callable[..., Tensor]
arcsinh: Callable[..., Tensor]
arctan: Callable[..., Tensor]
arctan2: Callable[..., Tensor]
arctanh: Callable[..., Tensor]
degrees: Callable[..., Tensor]
fix: Callable[..., Tensor]
greater: Callable[..., Tensor]
greater_equal: Callable[..., Tensor]
less: Callable[..., Tensor]
less_equal: Callable[..., Tensor]
mod: Callable[..., Tensor]
multiply: Callable[..., Tensor]
negative: Callable[..., Tensor]
not_equal: Callable[..., Tensor]
power: Callable[..., Tensor]
radians: Callable[..., Tensor]
subtract: Callable[..., Tensor]
concat: Callable[..., Tensor]
concatenate: Callable[..., Tensor]
swapdims: Callable[..., Tensor]
abs_: Callable[..., Tensor]
acos_: Callable[..., Tensor]
acosh_: Callable[..., Tensor]
addmv_: Callable[..., Tensor]
arccos_: Callable[..., Tensor]
arccosh_: Callable[..., Tensor]
arcsin_: Callable[..., Tensor]
arcsinh_: Callable[..., Tensor]
arctan_: Callable[..., Tensor]
arctanh_: Callable[..., Tensor]
as_strided_: Callable[..., Tensor]
asin_: Callable[..., Tensor]
asinh_: Callable[..., Tensor]
atan_: Callable[..., Tensor]
atanh_: Callable[..., Tensor]
ceil_: Callable[..., Tensor]
celu_: Callable[..., Tensor]
clamp_: Callable[..., Tensor]
clamp_max_: Callable[..., Tensor]
clamp_min_: Callable[..., Tensor]
clip_: Callable[..., Tensor]
conj_physical_: Callable[..., Tensor]
cos_: Callable[..., Tensor]
cosh_: Callable[..., Tensor]
deg2rad_: Callable[..., Tensor]
detach: Callable[..., Tensor]
detach_: Callable[..., Tensor]
dropout_: Callable[..., Tensor]
erf_: Callable[..., Tensor]
erfc_: Callable[..., Tensor]
exp2_: Callable[..., Tensor]
exp_: Callable[..., Tensor]
expm1_: Callable[..., Tensor]
fill_: Callable[..., Tensor]
fix_: Callable[..., Tensor]
floor_: Callable[..., Tensor]
frac_: Callable[..., Tensor]
gcd_: Callable[..., Tensor]
i0_: Callable[..., Tensor]
index_put_: Callable[..., Tensor]
lcm_: Callable[..., Tensor]
ldexp_: Callable[..., Tensor]
log10_: Callable[..., Tensor]
log1p_: Callable[..., Tensor]
log2_: Callable[..., Tensor]
log_: Callable[..., Tensor]
logit_: Callable[..., Tensor]
nan_to_num_: Callable[..., Tensor]
neg_: Callable[..., Tensor]
negative_: Callable[..., Tensor]
rad2deg_: Callable[..., Tensor]
reciprocal_: Callable[..., Tensor]
relu_: Callable[..., Tensor]
round_: Callable[..., Tensor]
rrelu_: Callable[..., Tensor]
rsqrt_: Callable[..., Tensor]
selu_: Callable[..., Tensor]
sigmoid_: Callable[..., Tensor]
sin_: Callable[..., Tensor]
sinc_: Callable[..., Tensor]
sinh_: Callable[..., Tensor]
sqrt_: Callable[..., Tensor]
square_: Callable[..., Tensor]
tan_: Callable[..., Tensor]
tanh_: Callable[..., Tensor]
threshold_: Callable[..., Tensor]
trunc_: Callable[..., Tensor]
xlogy_: Callable[..., Tensor]
zero_: Callable[..., Tensor]
channels_last_3d: Callable[..., Tensor]
preserve_format: Callable[..., Tensor]
dtype: Any
BoolTensor: Any
ByteTensor: Any
CharTensor: Any
DoubleTensor: Any
FloatTensor: Any
HalfTensor: Any
IntTensor: Any
LongTensor: Any
ShortTensor: Any
float64: dtypes.PublicDtype
double: dtypes.PublicDtype
float32: dtypes.PublicDtype
float: dtypes.PublicDtype
float16: dtypes.PublicDtype
half: dtypes.PublicDtype
complex128: dtypes.PublicDtype
cdouble: dtypes.PublicDtype
complex64: dtypes.PublicDtype
cfloat: dtypes.PublicDtype
int64: dtypes.PublicDtype
long: dtypes.PublicDtype
int32: dtypes.PublicDtype
int: dtypes.PublicDtype
int16: dtypes.PublicDtype
short: dtypes.PublicDtype
int8: dtypes.PublicDtype
uint8: dtypes.PublicDtype
uint16: dtypes.PublicDtype
uint32: dtypes.PublicDtype
uint64: dtypes.PublicDtype
bool: dtypes.PublicDtype
pi: builtins.float
e: builtins.float
inf: builtins.float
nan: builtins.float
newaxis: None
