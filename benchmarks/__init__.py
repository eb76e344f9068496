"""Measurements: generated against hand-written gradients, and the costs of the compiler."""
