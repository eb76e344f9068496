"""IR in, IR out: derivatives (`adjoint`, `tangent`), what both need, passes and analyses.

Each module says what it assumes and what it guarantees.
"""
