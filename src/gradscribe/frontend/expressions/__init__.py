"""Expressions and assignments: tree node in, frontend value out."""
