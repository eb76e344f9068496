"""Random Tensors come of the generator that is named, in the dtype that is asked for; what no
numbers can be drawn of is refused in PyTorch's words."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike

ERRORS = [
    (
        lambda: gs.zeros(2).exponential_(-0.5),
        "exponential_ expects lambda > 0.0, but found lambda=-0.5",
    ),
    (
        lambda: gs.zeros(2, dtype=gs.int64).exponential_(),
        "Exponential distribution is a continuous probability distribution. dtype must be a "
        "floating point but you specified Long",
    ),
    (lambda: gs.zeros(2).cauchy_(0, -1), "cauchy_ expects sigma > 0.0, but found sigma=-1"),
    (lambda: gs.zeros(2).normal_(0, -1), "normal expects std >= 0.0, but found std -1"),
    (
        lambda: gs.zeros(2, dtype=gs.int64).normal_(),
        "\"normal\" not implemented for 'Long'",
    ),
    (
        lambda: gs.zeros(2).uniform_(2, 1),
        "uniform_ expects to return a [from, to) range, but found from=2 > to=1",
    ),
    (lambda: gs.zeros(2).bernoulli_(2), "bernoulli_ expects p to be in [0, 1], but got p=2"),
    (
        lambda: gs.zeros(2, dtype=torchlike.int8).random_(0, 1000),
        "to - 1 is out of bounds for signed char",
    ),
    (lambda: gs.zeros(2, dtype=gs.bool).random_(-1, 2), "from is out of bounds for bool"),
    (
        lambda: torchlike.normal(gs.zeros(120), gs.ones(4, 5)),
        "The size of tensor a (120) must match the size of tensor b (5) at non-singleton "
        "dimension 1",
    ),
    (lambda: torchlike.randperm(-1), "Trying to create tensor with negative dimension -1: [-1]"),
    (
        lambda: torchlike.poisson(gs.tensor([-1.0])),
        "invalid Poisson rate, expected rate to be non-negative",
    ),
    (lambda: torchlike.multinomial(gs.ones(2, 2, 2), 1), "prob_dist must be 1 or 2 dim"),
    (
        lambda: torchlike.multinomial(gs.tensor([-1.0, 1.0]), 1),
        "probability tensor contains either `inf`, `nan` or element < 0",
    ),
    (
        lambda: torchlike.multinomial(gs.zeros(2), 1),
        "invalid multinomial distribution (sum of probabilities <= 0)",
    ),
    (
        lambda: torchlike.multinomial(gs.ones(2), 3),
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
    ),
    (lambda: gs.device("cpu:-1"), "Invalid device string: 'cpu:-1'"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_what_cannot_be_drawn_is_refused_in_pytorchs_words(call, message):
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "draw",
    [
        lambda g: gs.zeros(4).normal_(generator=g),
        lambda g: gs.zeros(4).uniform_(generator=g),
        lambda g: gs.zeros(4).random_(generator=g),
        lambda g: gs.zeros(4).random_(9, generator=g),
        lambda g: gs.zeros(9).bernoulli_(0.5, generator=g),
        lambda g: gs.zeros(4).exponential_(generator=g),
        lambda g: gs.zeros(4).cauchy_(generator=g),
        lambda g: gs.zeros(4).geometric_(0.1, generator=g),
        lambda g: gs.zeros(4).log_normal_(generator=g),
        lambda g: torchlike.normal(0.0, 1.0, (4,), generator=g),
        lambda g: gs.randn_like(gs.zeros(4), generator=g),
        lambda g: torchlike.randperm(9, generator=g),
    ],
)
def test_numbers_come_of_the_generator_that_is_named(draw):
    first, again = (draw(torchlike.Generator("cpu").manual_seed(3)) for _ in range(2))
    assert first.tolist() == again.tolist()


def test_normal_numbers_have_the_dtype_of_their_means():
    assert torchlike.normal(gs.zeros(2, dtype=gs.float32), 1.0).dtype == gs.float32
    assert torchlike.normal(0.0, 1.0, (2,), dtype=gs.float32, requires_grad=True).requires_grad


def test_both_parts_of_complex_numbers_are_random():
    z = gs.zeros(4000, dtype=gs.complex128)
    normal = z.normal_(generator=torchlike.Generator().manual_seed(0)).numpy()
    assert np.mean(np.abs(normal) ** 2) == pytest.approx(1.0, abs=0.1)
    assert np.std(normal.imag) == pytest.approx(0.5**0.5, abs=0.1)
    assert np.all(z.uniform_(1, 2).numpy().imag >= 1)


def test_the_state_of_random_numbers_is_kept_and_restored():
    gs.manual_seed(3)
    state = torchlike.get_rng_state()
    first = gs.rand(3)
    torchlike.set_rng_state(state)
    assert gs.rand(3).tolist() == first.tolist()
    assert torchlike.initial_seed() == 3
    assert torchlike.seed() == torchlike.initial_seed()


def test_dropout_scales_what_it_keeps():
    gs.manual_seed(0)
    x = gs.ones(200, requires_grad=True)
    y = torchlike.dropout(x, 0.5, True)
    assert {*y.tolist()} == {0.0, 2.0}
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert torchlike.dropout(x, 0.5, False) is x
