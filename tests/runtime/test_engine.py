"""The engine at scale: long chains, memory, threads."""

import gc
import threading
import tracemalloc

from gradscribe import autograd
from gradscribe.runtime import namespace as gs
from gradscribe.runtime.graph.engine import leading_to


def test_the_gradient_flows_through_many_operations_without_recursion():
    x = gs.ones(1, requires_grad=True)
    y = x
    for _ in range(50_000):
        y = y * 1.0
    y.backward()
    assert x.grad.tolist() == [1]
    del y  # freeing a chain does not recurse either


def test_training_steps_leave_no_memory_behind():
    w = gs.ones(4, 4, requires_grad=True)
    x = gs.ones(8, 4)

    def step():
        loss = ((x.mm(w) - 1) ** 2).sum()
        loss.backward()
        w.data.sub_(1e-3 * w.grad.data)
        w.grad.data.zero_()

    def traced_after(steps):
        for _ in range(steps):
            step()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    traced_after(20)
    tracemalloc.start()
    try:
        traced_after(20)  # what stays alive from step to step is made anew in each
        traced = [traced_after(200) for _ in range(4)]
    finally:
        tracemalloc.stop()
    growth = min(after - before for before, after in zip(traced, traced[1:], strict=False))
    assert growth < 200 * 48  # less than the smallest object with a field, a step


def test_no_garbage_is_left_to_the_cycle_collector():
    def step():
        x = gs.ones(3, requires_grad=True)
        y = (x.exp() * x).sum()
        y.backward()
        autograd.grad((x * x * x).sum(), x, create_graph=True)

    step()  # compiling leaves some
    gc.collect()
    gc.disable()
    try:
        for _ in range(10):
            step()
        assert gc.collect() == 0
    finally:
        gc.enable()


def in_threads(work, count=8):
    errors = []

    def run():
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_backward_from_several_threads_accumulates_in_a_shared_leaf():
    w = gs.ones(100, requires_grad=True)
    assert in_threads(lambda: [(w * 2).sum().backward() for _ in range(50)]) == []
    assert w.grad.tolist() == [2.0 * 50 * 8] * 100


def test_backward_from_several_threads_on_one_retained_graph():
    w = gs.ones(3, requires_grad=True)
    y = (w * w).sum()
    assert in_threads(lambda: y.backward(retain_graph=True)) == []
    assert w.grad.tolist() == [16, 16, 16]


def test_gradients_do_not_alias():
    x, y = gs.ones(2, requires_grad=True), gs.ones(2, requires_grad=True)
    seed = gs.ones(2)
    (x + y).backward(seed)
    x.grad.fill_(5)
    assert (y.grad.tolist(), seed.tolist()) == ([1, 1], [1, 1])
    d_x, d_y = autograd.grad(x + y, (x, y), seed)
    d_x.fill_(5)
    assert (d_y.tolist(), seed.tolist()) == ([1, 1], [1, 1])


class CountedNode:
    """A node that counts who asks where it leads."""

    def __init__(self, sequence_nr, *targets):
        self.sequence_nr = sequence_nr
        self.asked = 0
        self._edges = [(target, 0) for target in targets]

    @property
    def next_edges(self):
        self.asked += 1
        return self._edges


def test_what_lies_below_the_wanted_nodes_is_not_walked():
    leaf = CountedNode(-5)
    chain = [leaf]
    for number in range(1, 50):
        chain.append(CountedNode(number, chain[-1]))
    wanted = CountedNode(50, chain[-1])
    aside = CountedNode(51, chain[-1])
    root = CountedNode(52, wanted, aside, leaf)
    assert leading_to([wanted], [root]) == {wanted, root}
    assert [node.asked for node in chain] == [0] * 50


def test_gradients_by_a_leaf_and_by_what_was_made_of_it():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    w = gs.tensor([3.0, 4.0], requires_grad=True)
    z = (y * w + x).sum()
    found = autograd.grad(z, [y, x, w], retain_graph=True)
    assert [g.tolist() for g in found] == [[3, 4], [7, 9], [2, 4]]
    assert [g.tolist() for g in autograd.grad(z, [w, y], retain_graph=True)] == [[2, 4], [3, 4]]
    z.backward(inputs=[y])
    assert (y.grad.tolist(), x.grad, w.grad) == ([3, 4], None, None)
