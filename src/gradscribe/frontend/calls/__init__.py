"""Calls: of user functions, primitives, built-in and library functions and classes."""
