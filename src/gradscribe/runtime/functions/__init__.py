"""Eager operations on Tensors: tables of functions by family, and the path that each call takes."""
