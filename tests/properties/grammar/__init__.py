"""Random numerical programs, as source text, for hypothesis.

A program is a function of an array `x` of length 5, a matrix `A` of shape (4, 5), a number
`s` and an integer `n`; helpers that it calls stand before it. It is made of the statements
that the modules of this package register, each under the feature that it belongs to. Every
value stays bounded, because every assignment goes through a bounded function. Programs are
valid Python by construction: names are used only where they are bound on every path.
"""
