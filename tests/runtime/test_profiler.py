"""`gs.autograd.profiler`, as documented under "Profiler" in "Automatic differentiation package"."""

from __future__ import annotations

import json
import sys
import threading
import types

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.autograd import profiler
from gradscribe.autograd.profiler import FunctionEventAvg, profile, record_function


class Double(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, d_out):
        return d_out * 2


@gs.differentiable
def norm_squared(x):
    return np.sum(x * x)


def names(prof: profile) -> list[str]:
    return [event.name for event in prof.function_events]


def test_operations_are_events_in_their_order() -> None:
    x = gs.ones(2, requires_grad=True)
    with profile() as prof:
        (x * 2 + 4).index_select(0, gs.tensor([0]))
    assert names(prof) == ["aten::mul", "aten::add", "aten::index_select"]


def test_nodes_of_a_backward_are_events_with_the_numbers_of_their_operations() -> None:
    x = gs.ones(2, requires_grad=True)
    with profile() as prof:
        (x * 2).sum().backward()
    numbers = {event.name: event.sequence_nr for event in prof.function_events}
    assert numbers["MulBackward0"] == numbers["aten::mul"] >= 0
    assert numbers["SumBackward0"] == numbers["aten::sum"] == numbers["aten::mul"] + 1
    evaluated = f"autograd::engine::evaluate_function: {'torch::autograd::AccumulateGrad'}"
    assert names(prof)[-2:] == [evaluated, "torch::autograd::AccumulateGrad"]


def test_a_compiled_function_and_a_custom_one_are_one_event_each() -> None:
    x = gs.ones(2, requires_grad=True)
    with profile() as prof:
        norm_squared(Double.apply(x))
    assert [e.name for e in prof.function_events if e.cpu_parent is None] == [
        "Double",
        "norm_squared",
    ]


def test_record_function_names_a_part_as_context_and_as_decorator() -> None:
    @record_function("decorated")
    def doubled(x):
        return x * 2

    with profile() as prof, record_function("outer"):
        with record_function("inner"):
            gs.ones(2).exp()
        doubled(gs.ones(2))
    outer, inner, _, decorated, _ = prof.function_events
    assert names(prof) == ["outer", "inner", "aten::exp", "decorated", "aten::mul"]
    assert outer.cpu_children == [inner, decorated]
    assert [e.name for e in inner.cpu_children] == ["aten::exp"]


def test_own_time_is_what_is_not_spent_inside() -> None:
    with profile() as prof, record_function("outer"):
        gs.ones(1000).exp()
    outer, inner = prof.function_events
    assert 0 < inner.cpu_time_total <= outer.cpu_time_total
    assert outer.self_cpu_time_total == outer.cpu_time_total - inner.cpu_time_total
    assert prof.self_cpu_time_total == pytest.approx(outer.cpu_time_total)


def test_averages_count_the_calls_of_a_name() -> None:
    x = gs.ones(2)
    with profile(record_shapes=True) as prof:
        _ = x * 2, x * 3, gs.ones(3) * 2, x + 1
    assert [(e.key, e.count) for e in prof.key_averages()] == [("aten::mul", 3), ("aten::add", 1)]
    by_shape = prof.key_averages(group_by_input_shape=True)
    assert [(e.key, e.input_shapes, e.count) for e in by_shape] == [
        ("aten::mul", ((2,), ()), 2),
        ("aten::mul", ((3,), ()), 1),
        ("aten::add", ((2,), ()), 1),
    ]
    total = prof.total_average()
    assert (total.key, total.count) == ("Total", 4)


def test_an_average_of_averages_adds_up() -> None:
    with profile() as prof:
        _ = gs.ones(2) * 2
    (event,) = prof.function_events
    average = FunctionEventAvg().add(event).add(event)
    average.add(average)
    assert (average.key, average.count) == ("aten::mul", 4)
    assert average.cpu_time_total == 4 * event.cpu_time_total
    assert average.cpu_time == pytest.approx(event.cpu_time)


def test_the_table_is_sorted_and_cut() -> None:
    with profile() as prof:
        for _ in range(3):
            gs.ones(2).exp()
        gs.ones(2).sin()
    rows = prof.key_averages().table(sort_by="count", row_limit=1).splitlines()
    assert rows[1].split() == (
        "Name Self CPU % Self CPU CPU total % CPU total CPU time avg # of Calls".split()
    )
    assert rows[3].split()[0] == "aten::exp"
    assert rows[3].split()[-1] == "3"
    assert len(rows) == 6
    assert rows[5].startswith("Self CPU time total: ")
    with pytest.raises(ValueError, match=r"cannot sort by 'speed': .* \"cpu_time\""):
        prof.table(sort_by="speed")


def test_a_line_of_the_program_is_noted() -> None:
    with profile(with_stack=True) as prof:
        gs.ones(2).exp()
    (event,) = prof.function_events
    assert event.stack[0].startswith(f"{__file__}(")
    assert event.stack[0].endswith("): test_a_line_of_the_program_is_noted")


def test_a_trace_is_written_for_chrome(tmp_path) -> None:
    with profile() as prof:
        gs.ones(2).exp()
    prof.export_chrome_trace(tmp_path / "trace.json")
    (event,) = json.loads((tmp_path / "trace.json").read_text())
    assert (event["name"], event["ph"]) == ("aten::exp", "X")


def test_threads_are_told_apart() -> None:
    def work() -> None:
        gs.ones(2).exp()

    with profile() as prof, record_function("outer"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    outer, inner = prof.function_events
    assert (outer.thread, inner.thread) == (1, 2)
    assert inner.cpu_parent is None


def test_an_error_leaves_the_events_whole() -> None:
    with profile() as prof:
        with pytest.raises(RuntimeError), record_function("outer"):
            gs.ones(2) + gs.ones(3)
        gs.ones(2).exp()
    assert [(e.name, e.cpu_parent) for e in prof.function_events][-1] == ("aten::exp", None)


def test_nothing_is_measured_outside_or_when_disabled() -> None:
    with profile(enabled=False) as prof:
        gs.ones(2).exp()
    gs.ones(2).exp()
    assert names(prof) == []


def test_results_are_there_after_the_end_only() -> None:
    with profile() as prof:
        assert repr(prof) == "<unfinished profiler_profile>"
        with pytest.raises(RuntimeError, match="Profiler didn't finish running"):
            prof.key_averages()
    with pytest.raises(RuntimeError, match="Profiler context manager is not reentrant"):
        prof.__enter__()


def test_anomalies_are_found_while_it_measures() -> None:
    x = gs.zeros(1, requires_grad=True)
    with pytest.warns(UserWarning), gs.autograd.detect_anomaly(), profile():
        y = (x.sqrt() * 0).sum()
        with pytest.raises(RuntimeError, match="SqrtBackward0' returned nan values"):
            y.backward()


def test_cuda_is_not_available() -> None:
    with pytest.warns(UserWarning, match="CUDA is not available, disabling CUDA profiling"):
        profiler.profile(use_cuda=True)


def test_ranges_for_nvidias_profilers_are_those_of_a_profile(monkeypatch) -> None:
    ranges, depths = [], [0]

    def push(name: str) -> None:
        ranges.append((depths[-1], name))
        depths.append(depths[-1] + 1)

    nvtx = types.SimpleNamespace(RangePush=push, RangePop=depths.pop)
    monkeypatch.setitem(sys.modules, "cupy", types.ModuleType("cupy"))
    monkeypatch.setitem(sys.modules, "cupy.cuda", types.ModuleType("cupy.cuda"))
    monkeypatch.setitem(sys.modules, "cupy.cuda.nvtx", nvtx)
    x = gs.ones(2, requires_grad=True)
    with profiler.emit_nvtx(record_shapes=True) as emitting:
        y = x * gs.ones(3, 1)
        y.backward(gs.ones(3, 2))
        with pytest.raises(RuntimeError, match="not reentrant"):
            emitting.__enter__()
    _ = x * 2
    number = y.grad_fn._sequence_nr()
    assert ranges[:3] == [
        (0, "aten::mul, sizes = [[2], [3, 1]]"),
        (0, f"autograd::engine::evaluate_function: MulBackward0, seq = {number}, sizes = []"),
        (1, f"MulBackward0, seq = {number}, sizes = [[3, 2]]"),
    ]
    assert depths == [0]


def test_ranges_need_cupy(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(RuntimeError, match="needs CuPy"), profiler.emit_nvtx():
        pass
    with profiler.emit_nvtx(enabled=False):
        assert (gs.ones(2) * 2).tolist() == [2, 2]


def test_whether_a_profile_is_on_can_be_asked() -> None:
    with profile(use_kineto=gs.autograd.kineto_available()):
        assert gs.autograd._profiler_enabled()
    assert not gs.autograd._profiler_enabled()
