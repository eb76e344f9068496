"""The engine at scale: long chains, memory, threads."""

import gc
import threading
import tracemalloc

from gradscribe import autograd
from gradscribe.runtime import namespace as gs


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

    for _ in range(20):
        step()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            step()
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 4096


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
