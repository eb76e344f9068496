"""The intermediate representation: types, lengths, structured SSA, printer and verifier.

This is the ground layer. It knows nothing of Python source, of NumPy's functions or of
derivatives; every other layer speaks to the next one in the terms defined here.
"""
