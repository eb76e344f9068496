"""What a Tensor is: its array, its attributes, its conversions to Python and NumPy."""

import copy
import pickle
import warnings

import numpy as np
import pytest

from gradscribe.runtime import namespace as gs
from gradscribe.torchlike.nn.parameter import Parameter


def test_array_numpy_and_data_share_memory():
    x = gs.tensor([1.0, 2.0])
    assert x.numpy().base is x.array
    x.data[0] = 5
    assert x.tolist() == [5.0, 2.0]


def test_tensor_copies_its_data_and_from_numpy_does_not():
    a = np.zeros(2)
    copied, shared = gs.tensor(a), gs.from_numpy(a)
    a[0] = 1
    assert copied.tolist() == [0, 0]
    assert shared.tolist() == [1, 0]


def test_numpy_of_a_tensor_that_requires_grad_is_refused():
    x = gs.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError) as error:
        x.numpy()
    assert str(error.value) == (
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
    )
    assert x.detach().numpy().tolist() == [1]
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\)"):
        np.asarray(x)


def test_shapes():
    x = gs.zeros(2, 3)
    assert x.shape == x.size() == (2, 3)
    assert (x.size(0), x.size(-1), x.dim(), x.ndim, x.numel()) == (2, 3, 2, 2, 6)
    assert gs.numel(x) == 6
    assert x.shape.numel() == 6
    assert x.stride() == (3, 1)
    assert gs.zeros(5, 0, 3).stride() == (3, 3, 1)  # as if each length were 1 at least


def test_item_and_conversions_to_numbers():
    assert gs.tensor([2.5]).item() == 2.5
    assert type(gs.tensor(2).item()) is int
    assert float(gs.tensor(2)) == 2.0
    assert int(gs.tensor(2.7)) == 2
    assert [10, 20, 30][gs.tensor(1)] == 20
    with pytest.raises(
        RuntimeError, match="a Tensor with 2 elements cannot be converted to Scalar"
    ):
        gs.tensor([1.0, 2.0]).item()
    with pytest.raises(TypeError, match="only integer tensors of a single element"):
        [1, 2][gs.tensor(1.0)]


def test_bool():
    assert gs.tensor([1.0])
    assert not gs.tensor(0)
    message = "Boolean value of Tensor with more than one value is ambiguous"
    with pytest.raises(RuntimeError, match=message):
        bool(gs.tensor([1, 2]))
    with pytest.raises(RuntimeError, match="with no values is ambiguous"):
        bool(gs.tensor([]))


def test_len_and_iteration():
    x = gs.tensor([[1, 2], [3, 4]])
    assert len(x) == 2
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match="len\\(\\) of a 0-d tensor"):
        len(gs.tensor(1))
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(gs.tensor(1))
    assert 3 in x
    assert 7 not in x


def test_tensors_are_hashed_by_identity():
    x, y = gs.ones(1), gs.ones(1)
    assert len({x, y, x}) == 2


def test_comparisons_give_boolean_tensors_without_grad():
    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    assert (x > 2).tolist() == [False, False, True]
    assert (x == 2).tolist() == [False, True, False]
    assert (2 <= x).tolist() == [False, True, True]
    assert not (x > 2).requires_grad
    assert (x == None) is False


@pytest.mark.parametrize(
    "compute, expected",
    [
        (lambda x: x + 1, [2, 3]),
        (lambda x: 1 - x, [0, -1]),
        (lambda x: 2 * x, [2, 4]),
        (lambda x: x / 2, [0.5, 1]),
        (lambda x: 2 / x, [2, 1]),
        (lambda x: x // 2, [0, 1]),
        (lambda x: 5 % (x + 1), [1, 2]),
        (lambda x: x**2, [1, 4]),
        (lambda x: 2**x, [2, 4]),
        (lambda x: -x, [-1, -2]),
        (lambda x: +x, [1, 2]),
        (lambda x: abs(-x), [1, 2]),
        (lambda x: x @ x, 5),
        (lambda x: np.array([3.0, 4.0]) * x, [3, 8]),
        (lambda x: np.float64(3.0) * x, [3, 6]),
        (lambda x: ~(x > 1), [True, False]),
        (lambda x: (x > 1) & (x < 5), [False, True]),
    ],
)
def test_operators(compute, expected):
    result = compute(gs.tensor([1.0, 2.0]))
    assert isinstance(result, gs.Tensor)
    assert result.tolist() == expected


def test_operators_with_other_types_are_refused():
    with pytest.raises(TypeError):
        gs.ones(1) + "one"


def test_operators_in_place_leave_other_types_to_those():
    class Other:
        def __radd__(self, tensor):
            return "added"

    x = gs.ones(2)
    x += Other()
    assert x == "added"


def test_dtypes_and_conversions():
    x = gs.tensor([1, 2])
    assert x.dtype == gs.int64 == np.int64
    assert (x * 0.5).dtype == gs.float64
    assert x.double().dtype == gs.float64
    assert x.to(gs.float32).dtype == gs.float32
    assert x.float().dtype == gs.float32
    assert x.to("cpu") is x
    assert x.type() == "torch.LongTensor"
    assert x.type(gs.float64).type() == "torch.DoubleTensor"
    assert x.type_as(gs.ones(1)).dtype == gs.float64
    assert (gs.ones(1, dtype=gs.float32) * 2.0).dtype == gs.float32


def test_shape_methods():
    x = gs.arange(6).view(2, 3)
    assert x.view(-1, 1).shape == (6, 1)
    assert x.view_as(gs.zeros(3, 2)).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert x.reshape((3, 2)).shape == (3, 2)
    assert x.T.tolist() == x.t().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert x.transpose(0, 1).shape == (3, 2)
    assert x.permute(1, 0).shape == (3, 2)
    assert x.unsqueeze(0).shape == (1, 2, 3)
    assert x.unsqueeze(-1).squeeze().shape == (2, 3)
    assert gs.zeros(1, 2, 1).squeeze(0).shape == (2, 1)
    assert gs.zeros(1, 2).squeeze(1).shape == (1, 2)
    assert gs.ones(3, 1).expand(3, 4).shape == (3, 4)
    assert gs.ones(3, 1).expand(-1, 4).shape == (3, 4)
    assert gs.ones(1, 1).expand_as(gs.zeros(8, 1)).shape == (8, 1)
    assert x.flatten().shape == (6,)
    assert gs.zeros(6)[::2].ravel().stride() == (1,)
    assert x.flatten(1, 1) is x
    assert gs.zeros(()).flatten().shape == (1,)
    assert gs.zeros(2, 3, 4).flatten(1).shape == (2, 12)
    assert [part.shape for part in gs.arange(5).split(2)] == [(2,), (2,), (1,)]
    assert [part.tolist() for part in gs.arange(4).chunk(2)] == [[0, 1], [2, 3]]
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        x.t().view(6)


def test_reductions():
    x = gs.tensor([[1.0, 2.0], [3.0, 6.0]])
    assert x.sum().item() == 12
    assert x.sum(0).tolist() == [4, 8]
    assert x.sum(dim=1, keepdim=True).tolist() == [[3], [9]]
    assert x.mean(1).tolist() == [1.5, 4.5]
    assert x.prod().item() == 36
    assert x.max().item() == 6
    values, indices = x.max(1)
    assert (values.tolist(), indices.tolist()) == ([2, 6], [1, 1])
    assert x.min(0).values.tolist() == [1, 2]
    assert x.argmax().item() == 3
    assert x.std().item() == pytest.approx(np.std(x.array, ddof=1))
    assert x.var(unbiased=False).item() == pytest.approx(np.var(x.array))
    assert x.norm().item() == pytest.approx(np.sqrt(50))
    assert (x > 0).all().item() is True


def test_matrix_products():
    a, b = gs.tensor([[1.0, 2.0], [3.0, 4.0]]), gs.tensor([[1.0], [1.0]])
    assert a.mm(b).tolist() == [[3], [7]]
    assert a.matmul(b).tolist() == gs.mm(a, b).tolist()
    assert a.mv(gs.ones(2)).tolist() == [3, 7]
    assert gs.ones(2).dot(gs.ones(2)).item() == 2
    with pytest.raises(RuntimeError) as error:
        b.mm(b)
    assert str(error.value) == "mat1 and mat2 shapes cannot be multiplied (2x1 and 2x1)"
    with pytest.raises(RuntimeError, match="mat2 must be a matrix"):
        a.mm(gs.ones(2))


def test_functions_of_the_namespace():
    x = gs.tensor([1.0, 4.0])
    assert gs.add(x, 1).tolist() == [2, 5]
    assert gs.add(x, x, alpha=2).tolist() == [3, 12]
    assert gs.sqrt(x).tolist() == [1, 2]
    assert gs.clamp(x, max=2).tolist() == [1, 2]
    assert gs.where(x > 2, x, 0.0).tolist() == [0, 4]
    assert gs.cat([x, x]).shape == (4,)
    assert gs.stack([x, x]).shape == (2, 2)
    assert gs.softmax(x, 0).sum().item() == pytest.approx(1)
    assert gs.relu(gs.tensor([-1.0, 2.0])).tolist() == [0, 2]
    assert gs.sigmoid(gs.tensor(0.0)).item() == 0.5
    assert gs.logsumexp(x, 0).item() == pytest.approx(np.log(np.sum(np.exp(x.array))))
    assert gs.equal(x, x.clone())
    assert gs.allclose(x, x + 1e-12)
    assert gs.is_tensor(x)


def test_indexing_reads():
    x = gs.arange(12).view(3, 4)
    assert x[1].tolist() == [4, 5, 6, 7]
    assert x[-1, 2].item() == 10
    assert x[:, 1].tolist() == [1, 5, 9]
    assert x[::2, None].shape == (2, 1, 4)
    assert x[..., 0].tolist() == [0, 4, 8]
    assert x[[0, 2]].tolist() == [[0, 1, 2, 3], [8, 9, 10, 11]]
    assert x[gs.tensor([0, 2]), gs.tensor([1, 1])].tolist() == [1, 9]
    assert x[x > 9].tolist() == [10, 11]
    assert x[gs.tensor(1)].tolist() == [4, 5, 6, 7]
    with pytest.raises(IndexError):
        x[5]


def test_pickle_and_deepcopy_of_leaves():
    x = gs.tensor([1.0], requires_grad=True)
    (x * 1).sum().backward()
    for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert again.requires_grad
        assert again.tolist() == [1]
    assert copy.deepcopy(x).grad.tolist() == [1]
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)


def test_gradients_assigned_must_fit():
    x = gs.ones(2, requires_grad=True)
    x.grad = gs.zeros(2)
    assert x.grad.tolist() == [0, 0]
    x.grad = None
    assert x.grad is None
    with pytest.raises(RuntimeError, match="to assign a gradient of size"):
        x.grad = gs.zeros(3)
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        x.grad = 1.0


def test_hooks_may_be_given_as_a_dictionary():
    x = gs.ones(1, requires_grad=True)
    x._backward_hooks = {"double": lambda g: g * 2}
    y = x * 3
    y._backward_hooks = {"double": lambda g: g * 2}
    y.backward()
    assert x.grad.tolist() == [12]


def test_a_tensor_keeps_attributes_of_the_user():
    x = gs.ones(2, requires_grad=True)
    x.note = ["a"]
    for twin in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert twin.note == ["a"]
        assert twin.note is not x.note
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        x.other


def test_as_subclass_gives_a_view_of_the_users_class():
    class Labelled(gs.Tensor):
        def hello(self):
            return f"hello {self.numel()}"

    x = gs.tensor([1.0, 2.0], requires_grad=True)
    labelled = x.as_subclass(Labelled)
    assert (type(labelled), labelled.hello()) == (Labelled, "hello 2")
    assert (labelled.grad_fn.name(), labelled._base) == ("AliasBackward0", x)
    (labelled * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="a class that does not inherit from Tensor"):
        x.as_subclass(int)


class Named(gs.Tensor):
    def __init__(self, data):
        super().__init__()
        self.label = "no name"


class Positive(Parameter):
    pass


def test_a_class_of_the_users_is_made_of_data_and_kept_in_copies():
    x = Named([1.0, 2.0])
    x.label = "x"
    assert (type(x), x.tolist(), x.label) == (Named, [1, 2], "x")
    for twin in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert (type(twin), twin.tolist(), twin.label) == (Named, [1, 2], "x")
    parameter = Positive(gs.ones(2))
    for twin in (copy.deepcopy(parameter), pickle.loads(pickle.dumps(parameter))):
        assert (type(twin), twin.tolist(), twin.requires_grad) == (Positive, [1, 1], True)


def test_classes_of_one_dtype_have_no_subclasses():
    with pytest.raises(TypeError, match="is not an acceptable base type"):

        class Sub(gs.FloatTensor):
            pass


def test_a_type_is_named_by_a_class():
    x = gs.tensor([1, 2])
    assert x.type(gs.Tensor).dtype == gs.float64
    assert x.type(gs.FloatTensor).dtype == gs.float32


def test_layouts_and_memory_formats_have_classes_of_their_own():
    x = gs.ones(2)
    assert (x.layout, repr(x.layout)) == (gs.strided, "torch.strided")
    assert isinstance(gs.strided, gs.layout)
    assert isinstance(gs.channels_last, gs.memory_format)
    assert not isinstance(gs.channels_last, gs.layout)


NAMES = ["needs_grad", "counter", "node", "view_of", "index", "leaf_state"]


@pytest.mark.parametrize("name", NAMES)
def test_attributes_that_pytorch_does_not_have_are_the_users(name):
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    view = (x * 1)[:1]
    for tensor in (x, view):
        setattr(tensor, name, False)
        assert getattr(tensor, name) is False
    view.mul_(3)
    (view.sum() + x.detach().sum()).backward()
    assert x.grad.tolist() == [3.0, 0.0]
    assert not hasattr(gs.ones(2), name)


def test_the_class_of_tensors_is_named_where_users_find_it():
    assert repr(gs.Tensor) == "<class 'gradscribe.Tensor'>"
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    saved = pickle.dumps(x)
    assert b"runtime.tensors.tensor\nTensor" not in saved
    assert (pickle.loads(saved).tolist(), pickle.loads(pickle.dumps(gs.Tensor))) == (
        [1.0, 2.0],
        gs.Tensor,
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("data", "Deleting tensor data is not allowed. Delete tensor instead!"),
        ("_grad_fn", "Deletion of _grad_fn not allowed. Detach tensor instead!"),
        ("_backward_hooks", "Deletion of _backwards_hooks not allowed!"),
        ("requires_grad", "requires_grad must be a bool"),
    ],
)
def test_attributes_that_cannot_be_deleted(name, text):
    with pytest.raises(RuntimeError, match=text):
        delattr(gs.ones(1), name)


def test_a_shape_set_on_a_shared_array_is_not_that_of_the_tensor():
    given = np.arange(4.0)
    x = gs.as_tensor(given)
    for shared in (given, x.numpy(), np.asarray(x)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            shared.shape = (2, 2)
        assert (x.shape, (x * 2).tolist()) == ((4,), [0, 2, 4, 6])
