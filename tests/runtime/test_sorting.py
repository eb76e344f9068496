"""Order and counts: sorting, medians, modes, histograms, and which of equal elements is taken."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike

NAN = float("nan")


def test_sorting_gives_values_and_indices_by_name():
    found = gs.tensor([3.0, 1.0, 2.0]).sort()
    assert repr(found) == (
        "torch.return_types.sort(\nvalues=tensor([1., 2., 3.]),\nindices=tensor([1, 2, 0]))"
    )
    values, indices = found
    assert (values is found.values, indices.tolist()) == (True, [1, 2, 0])


def test_equal_elements_stay_in_order_and_nan_is_greatest():
    x = gs.tensor([1.0, NAN, 1.0, 0.0])
    assert x.argsort().tolist() == [3, 0, 2, 1]
    assert x.argsort(descending=True).tolist() == [1, 0, 2, 3]
    assert x.topk(2).indices.tolist() == [1, 0]


def test_the_median_is_the_lower_of_two_and_shows_nan():
    x = gs.tensor([[3.0, 1.0, 2.0, 4.0], [5.0, NAN, 6.0, 1.0]])
    assert x[0].median().item() == 2
    values, indices = x.median(1)
    assert (values[0].item(), np.isnan(values[1].item()), indices.tolist()) == (2, True, [2, 1])
    assert x[1].nanmedian().item() == 5


def test_the_mode_is_the_least_of_the_most_frequent_at_its_last_place():
    values, indices = gs.tensor([[3.0, 1.0, 3.0, 1.0], [5.0, 7.0, 5.0, 5.0]]).mode()
    assert (values.tolist(), indices.tolist()) == ([1, 5], [3, 3])


def test_nan_is_the_mode_of_what_has_one_and_equals_no_other():
    x = gs.tensor([1.0, float("nan"), 1.0])
    values, index = x.mode()
    assert values.isnan().item() and index.item() == 1
    assert torchlike.unique(gs.tensor([float("nan"), float("nan")])).numel() == 2
    assert gs.zeros(0, 2).mode()[0].shape == (0,)


def test_a_tensor_without_axes_is_sorted_as_if_it_had_one():
    x = gs.tensor(3.0)
    for found in (x.sort(), x.max(0), x.topk(1), x.median(0), x.kthvalue(1)):
        assert [t.shape for t in found] == [(), ()]


def test_counts():
    x = gs.tensor([3, 1, 2, 1])
    assert [t.tolist() for t in x.unique(return_inverse=True, return_counts=True)] == [
        [1, 2, 3],
        [2, 0, 1, 0],
        [2, 1, 1],
    ]
    assert x.bincount(minlength=5).tolist() == [0, 2, 1, 1, 0]
    assert x.unique_consecutive().tolist() == [3, 1, 2, 1]
    assert gs.tensor([[1, 0], [0, 3]]).nonzero().tolist() == [[0, 0], [1, 1]]
    assert torchlike.searchsorted(gs.tensor([1.0, 3.0]), gs.tensor([3.0]), right=True).tolist() == [
        2
    ]
    assert torchlike.histc(gs.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist() == [
        0,
        2,
        1,
        0,
    ]


def test_histograms_of_no_range_are_of_the_elements():
    assert torchlike.histc(gs.tensor([1.0, 2.0, 1.0]), 4, 5, 5).tolist() == [2, 0, 0, 1]
    assert torchlike.histc(gs.tensor([3.0, 3.0]), 4).tolist() == [0, 0, 2, 0]
    with pytest.raises(RuntimeError, match=r"torch\.histc: max must be larger than min"):
        torchlike.histc(gs.ones(2), 3, 5, 1)
