"""Calls: of user functions, primitives and built-ins; NumPy functions that have effects."""
