"""The functions of `torchlike.nn.functional` over arrays, as the compiler differentiates them.

Each is a plain function over NumPy arrays, which eager Tensors record as one node and compiled
code calls. In these modules methods have NumPy's meaning.
"""
