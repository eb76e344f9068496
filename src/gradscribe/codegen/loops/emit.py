"""A function of the IR as the text of loops over scalars."""

from __future__ import annotations

from functools import lru_cache

from gradscribe.codegen.emit import Rendered, emitters_of
from gradscribe.codegen.loops.rewriting import in_subset
from gradscribe.codegen.loops.simd import with_simd
from gradscribe.codegen.loops.slabs import in_slabs
from gradscribe.codegen.namespace import Namespace
from gradscribe.codegen.writer import Writer
from gradscribe.ir.core import Function


def emit_loops(function: Function) -> str:
    """The source of a function, flat as it is emitted, that can be said as loops."""
    return render_loops(function).text


@lru_cache(maxsize=64)
def render_loops(function: Function) -> Rendered:
    """The text, with the objects that it names."""
    namespace = Namespace()
    (emitter,) = emitters_of(function, (), (), namespace)
    definition, statements = in_subset(emitter.definition), emitter.statements
    definition = in_slabs(definition, emitter.records, emitter.scope.numpy)
    definition = with_simd(definition, emitter.scope.numpy)
    writer = Writer(definition, statements.comments, statements.blank_before)
    return Rendered(writer.text, namespace.bindings)
