"""From IR to Python source, and from source to callables.

`emit` is the way: a plan (what is folded, what shares a variable, names), statements as
syntax trees, text. `load` executes it. Needs the IR, and of the primitives the identities of
those with a syntax of their own.
"""

from gradscribe.codegen.emit import Rendered, emit, render
from gradscribe.codegen.load import execute, load
from gradscribe.codegen.stepwise import Line, Stepwise, itemize

__all__ = ["Line", "Rendered", "Stepwise", "emit", "execute", "itemize", "load", "render"]
