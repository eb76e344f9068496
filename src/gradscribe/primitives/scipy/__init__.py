"""Functions of SciPy, which is optional: `optional.py` imports the families of what is there.

Each module is a family as those of NumPy's functions are. Rules are made of SciPy's and NumPy's
functions that have derivatives themselves, so that they hold to any order. Where the derivative
by an argument (an order, a number of degrees of freedom) is not known, the rule gives `UNKNOWN`.
"""
