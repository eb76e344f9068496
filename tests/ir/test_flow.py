"""What flows where: the values of a loop by what they mean, and what becomes what."""

from gradscribe.ir.core import IF, LOOP, Block, LoopShape, Operation, Value
from gradscribe.ir.flow import Loop, flows, merges, reachable, sources
from gradscribe.ir.types import BOOL, FLOAT, INT, Collected


def values(names, type_=FLOAT):
    return tuple(Value(type_, name) for name in names.split())


def names(pairs):
    return [f"{source.name} -> {target.name}" for source, target in pairs]


def a_loop():
    """`for i in range(start, stop, step): for element in record: …`, which carries a and b, has an
    exit and collects e."""
    shape = LoopShape(("range", "collected"), carried=2, collects=1, exits=True)
    (record,), (flag,) = values("record", Collected(FLOAT)), values("again", BOOL)
    operands = (*values("start stop step", INT), record, *values("a0 b0"))
    body = Block((*values("i", INT), *values("x a b")), (), (*values("a1 b1"), flag, *values("e")))
    results = (*values("a2 b2"), Value(Collected(FLOAT), "collected"))
    return Operation(LOOP, operands, results, {"shape": shape}, (body,))


def a_while():
    shape = LoopShape((), carried=1, condition=True)
    body = Block(values("a"), (), values("a1"))
    condition = Block(values("tested"), (), values("goes_on", BOOL))
    return Operation(LOOP, values("a0"), values("a2"), {"shape": shape}, (body, condition))


def an_if():
    then, otherwise = Block((), (), values("x y")), Block((), (), values("z y"))
    return Operation(IF, values("flag", BOOL), values("r s"), {}, (then, otherwise))


def test_the_values_of_a_loop_go_by_what_they_mean():
    loop = Loop(a_loop())
    (carried, _), (numbers, elements) = loop.carried, loop.iterated
    assert [value.name for value in carried[:4]] == ["a0", "a", "a1", "a2"]
    assert carried.tested == ()
    assert [value.name for value in numbers.operands] == ["start", "stop", "step"]
    assert (numbers.kind, numbers.item.name) == ("range", "i")
    assert [value.name for value in elements.operands] == ["record"]
    assert [value.name for value in loop.exits] == ["again"]
    assert names(loop.records) == ["e -> collected"]
    assert loop.condition is None


def test_the_condition_of_a_while_has_the_carried_values_too():
    loop = Loop(a_while())
    assert [value.name for value in loop.carried[0].names] == ["a", "a2", "tested"]
    assert loop.exits == ()


def test_what_branches_and_loops_hand_on():
    assert names(merges(an_if())) == ["x -> r", "y -> s", "z -> r", "y -> s"]
    assert names(merges(a_while())) == [
        f"{source} -> {target}" for target in ("a", "a2", "tested") for source in ("a0", "a1")
    ]


def test_what_a_loop_runs_over_flows_to_its_items_and_what_it_collects_to_records():
    others = set(flows(loop := a_loop())) - set(merges(loop))
    assert sorted(names(others)) == [
        "e -> collected",
        "record -> x",
        "start -> i",
        "step -> i",
        "stop -> i",
    ]


def test_what_a_result_may_be():
    branch, loop = an_if(), a_loop()
    assert [value.name for value in sources(branch, branch.results[0])] == ["x", "z"]
    assert [value.name for value in sources(loop, loop.results[1])] == ["b0", "b1"]
    assert [value.name for value in sources(loop, loop.results[2])] == ["e"]


def test_all_that_is_reached_by_edges_in_a_circle():
    assert reachable("a", {"a": "b", "b": "ca", "d": "a"}) == {"a", "b", "c"}
