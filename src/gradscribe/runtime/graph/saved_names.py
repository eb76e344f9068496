"""What each kind of node keeps for its backward, under PyTorch's names: the names of `_saved_*`.

A line of the table has the name of a node, then the saved values. `result` is the output; `sizes`
and `numel` are those of the first operand; `picked` is where along an axis elements were taken.
`name=k` is operand k, `name:parameter` a static argument (with `*` always as a tuple, with `.` its
only item), `name!n` the number n.
"""

from __future__ import annotations

from functools import cache

_TABLE = """
Abs0 self=0
Acos0 self=0
Acosh0 self=0
Add0 alpha!1
Addbmm0 alpha=4 beta=3 batch1=1 batch2=2
Addcdiv0 tensor1=1 tensor2=2 value=3
Addcmul0 tensor1=1 tensor2=2 value=3
Addmm0 alpha=4 beta=3 mat1=1 mat2=2
Addmv0 alpha=4 beta=3 mat=1 vec=2
Addr0 alpha=4 beta=3 vec1=1 vec2=2
Amax0 dim:axis* keepdim:keepdims self=0 result
Amin0 dim:axis* keepdim:keepdims self=0 result
Angle0 self=0
AsStrided0 size:size* stride:stride* storage_offset:storage_offset
Asin0 self=0
Asinh0 self=0
Atan0 self=0
Atan20 self=0 other=1
Atanh0 self=0
Baddbmm0 alpha=4 beta=3 batch1=1 batch2=2
Bmm0 self=0 mat2=1
Cat0 dim:axis
Celu0 alpha:alpha self=0
Clamp0 self=0 min=1 max=2
Clamp1 self=0 min:min max:max
ClampMax0 self=0 max=1
ClampMax1 self=0 max=1
ClampMin0 self=0 min=1
ClampMin1 self=0 min=1
Copysign0 self=0 result
Copysign1 self=0 result
Cos0 self=0
Cosh0 self=0
Cumprod0 dim:axis self=0 result
Cumsum0 dim:axis
Diagonal0 offset:offset dim1:axis1 dim2:axis2 sizes
Digamma0 self=0
Div0 self=0 other=1
Dot0 self=0 tensor=1
Erf0 self=0
Erfc0 self=0
Erfinv0 result
Exp0 result
Exp20 result
Expand0 sizes
Expm10 result
Flip0 dims:axis*
Fmax0 self=0 other=1
Fmin0 self=0 other=1
Fmod1 self=0 other=1
Hardshrink0 lambd:lambd self=0
Hardsigmoid0 self=0
Hardswish0 self=0
Hypot0 self=0 other=1 result
I00 self=0
Index0 indices sizes
Kron0 self=0 other=1
Kthvalue0 dim:axis keepdim:keepdims picked sizes
Lerp0 weight=2
Lerp1 self=0 end=1 weight=2
Lgamma0 self=0
LinalgDet0 A=0 result
LinalgMatrixExp0 self=0
LinalgVectorNorm0 ord:ord dim:axis* keepdim:keepdims self=0 result
Log0 self=0
Log100 self=0
Log1P0 self=0
Log20 self=0
LogSoftmax0 dim:axis result
Logaddexp0 self=0 other=1
Logaddexp20 self=0 other=1
Logcumsumexp0 dim:axis self=0 result
Logit0 eps:eps self=0
Logsumexp0 dim:axis* keepdim:keepdims self=0 result
MaskedFill0 mask=0
MaskedFill1 mask=0
Max0 dim:axis keepdim:keepdims picked sizes
Max1 self=0 result
Maximum0 self=0 other=1
Mean0 numel sizes
Mean1 dim:axis* keepdim:keepdims numel sizes
Median0 self=0 result
Median1 dim:axis picked sizes
Min0 dim:axis keepdim:keepdims picked sizes
Min1 self=0 result
Minimum0 self=0 other=1
Mish0 self=0
Mm0 self=0 mat2=1
Mul0 self=0 other=1
Mv0 self=0 vec=1
NanToNum0 self=0
Nansum0 dim:axis* keepdim:keepdims self=0
Permute0 dims:axes*
Polar0 result
Polygamma0 n:n self=0
Polygamma1 n:n self=0
Pow0 self=0 exponent=1
Pow1 self=0 exponent=1 result
Pow2 self=0 exponent=1 result
Prod0 self=0 result
Prod1 dim:axis keepdim:keepdims self=0 result
Reciprocal0 result
Relu0 result
Remainder1 self=0 other=1
Repeat0 repeats:reps* sizes
Roll0 shifts:shift* dims:axis*
Rsqrt0 result
Rsub1 alpha!1
Select0 dim index sizes
Sigmoid0 result
Silu0 self=0
Sin0 self=0
Sinc0 self=0
Sinh0 self=0
Slice0 dim start end step sizes
Softmax0 dim:axis result
Sort0 dim:axis picked sizes
Sqrt0 result
Squeeze0 sizes
Squeeze1 dim:axis. sizes
Squeeze3 sizes
Squeeze4 dim:axis. sizes
Stack0 dim:axis
Std0 correction:ddof dim:axis* keepdim:keepdims self=0 result
Sub0 alpha!1
Sum0 sizes
Sum1 dim:axis* keepdim:keepdims sizes
Tan0 result
Tanh0 result
Threshold0 threshold:threshold self=0
Topk0 dim:axis picked sizes
Trace0 sizes
Transpose0 dim0:axis1 dim1:axis2
Transpose1 dim0:axis1 dim1:axis2
Tril0 diagonal:k
Triu0 diagonal:k
Unsqueeze0 dim:axis
Unsqueeze1 dim:axis
Var0 correction:ddof dim:axis* keepdim:keepdims self=0
Vdot0 self=0 other=1
View0 sizes
Where0 condition=0
Xlogy0 self=0 other=1
"""

_WHOLE_NAMES = {"sizes": "self_sym_sizes", "numel": "self_sym_numel", "picked": "indices"}


@cache
def _table() -> dict[str, dict[str, str]]:
    lines = (line.split() for line in _TABLE.strip().splitlines())
    return {f"{node[:-1]}Backward{node[-1]}": dict(map(_named, items)) for node, *items in lines}


def _named(item: str) -> tuple[str, str]:
    """The name of a saved value, and where it is found."""
    for mark in "=:!":
        name, found, rest = item.partition(mark)
        if found:
            return name, mark + rest
    return _WHOLE_NAMES.get(item, item), item


def saved_names(node: str) -> dict[str, str]:
    """Of the node of this name: the names of what it keeps, each with where that is found."""
    return _table().get(node, {})
