"""A graph of two layers that several tests look at."""

import gradscribe as gs
from gradscribe.autograd import Variable


def two_layers():
    a = Variable(gs.Tensor([4.0]), requires_grad=True)
    weights = [Variable(gs.Tensor([float(i)]), requires_grad=True) for i in (2, 5, 9, 7)]
    b, c = weights[0] * a, weights[1] * a
    d = weights[2] * b + weights[3] * c
    return a, weights, b, c, d, 10 - d
