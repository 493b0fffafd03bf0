# SPDX-License-Identifier: Apache-2.0
"""Loop interchange of reductions for machines that load rows (Wolfe, High Performance Compilers for Parallel Computing,
1996, chapter 9; Allen and Kennedy 2001, section 9.3): a reduction whose operands it walks through in columns goes
outside of the loop that walks through them in rows.

    for j: C[j] = 0; for k: C[j] += B[k, j]     becomes     for j: C[j] = 0;  for k: for j: C[j] += B[k, j]

Each element still accumulates in the order of k, so that bits stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from polyloom.ir.nest import Assign, Loop, Nest, Node, accesses, assignments, loop_nodes, subscript_symbols, taken_names
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.nest_rewrite import substitute_symbols as rename
from polyloom.ir.pla import Reference
from polyloom.names import fresh_name
from polyloom.sets import Affine


def interchange_reductions(nest: Nest) -> Nest:
    """Nest in which reductions along columns are outside of the loops along rows; a total that is a number becomes a
    row of them (scalar expansion).
    """
    rewriter = _Interchange(nest)
    body = rewriter.nodes(nest.body)
    storage = tuple(replace(s, shape=rewriter.rows.get(s.name, s.shape)) for s in nest.storage)
    return replace(nest, body=body, storage=storage)


class _Interchange(Rewriter):
    """`taken` are the names of loops and arrays, `rows` the extents of expanded numbers (mutable)."""

    def __init__(self, nest: Nest) -> None:
        self.nest, self.taken, self.rows = nest, taken_names(nest), dict[str, tuple[Affine, ...]]()
        self.uses, self.loops = _uses(nest.body), tuple(loop_nodes(nest.body))

    def loop(self, node: Loop) -> Iterable[Node]:
        (made,) = super().loop(node)
        assert isinstance(made, Loop)
        own = self.expand_totals(made)
        reduction = next((each for each in own.body if _is_column_reduction(each, own)), None)
        if not isinstance(reduction, Loop) or not _has_independent_iterations(own):
            return (made,)
        # Only what was expanded gets a row; other locals stay numbers.
        if own is not made:
            (upper,) = own.upper
            self.rows |= dict.fromkeys(self.totals(made), (upper,))
        at = own.body.index(reduction)
        # What is in front of the reduction, it itself and what is behind get a copy of the loop each.
        inside = replace(reduction, body=(self.copy_loop(own, reduction.body),))
        before, behind = ([self.copy_loop(own, part)] if part else [] for part in (own.body[:at], own.body[at + 1 :]))
        return (*before, inside, *behind)

    def expand_totals(self, loop: Loop) -> Loop:
        """Scalar expansion (Padua and Wolfe 1986) of numbers that only this loop names, and stores first."""
        names = self.totals(loop)
        is_sized = len(loop.upper) == 1 and loop.upper[0].symbols <= {*self.nest.parameters}
        if not names or not is_sized or not self.starts_in_row(loop):
            return loop
        return replace(loop, body=_Expansion(names, Affine.symbol(loop.name)).nodes(loop.body))

    def starts_in_row(self, loop: Loop) -> bool:
        """Whether a loop begins at 0, or where another one is that does: rows have the elements 0 to below its end."""
        # Triangles begin at the diagonal, whose row has as many elements as the others.
        starts = {Affine(), *(Affine.symbol(each.name) for each in self.loops if each.lower == (Affine(),))}
        return len(loop.lower) == 1 and loop.lower[0] in starts

    def totals(self, loop: Loop) -> frozenset[str]:
        own = _uses((loop,))
        numbers = {s.name for s in self.nest.storage if s.role == "local" and not s.shape}
        begun = [
            node.target.name for node in loop.body if isinstance(node, Assign) and not _reads(node, node.target.name)
        ]
        first = next((name for name in begun if name in numbers), None)
        return frozenset([first] if first is not None and own[first] == self.uses[first] else [])

    def copy_loop(self, loop: Loop, body: Sequence[Node]) -> Loop:
        """The loop around other nodes, under a name of its own."""
        name = fresh_name(loop.name, self.taken)
        return replace(loop, name=name, body=rename(tuple(body), {loop.name: Affine.symbol(name)}))


def _is_column_reduction(node: Node, around: Loop) -> bool:
    """Whether a loop adds to one element in each of its iterations, what it reads in columns and `around` in rows."""
    if not isinstance(node, Loop) or len(node.body) != 1 or not isinstance(assign := node.body[0], Assign):
        return False
    if node.name in subscript_symbols(assign.target) or any(
        around.name in form.symbols for form in (*node.lower, *node.upper)
    ):
        return False
    others = [read for read in accesses(assign.value) if read.name != assign.target.name]
    rows = [read for read in (assign.target, *others) if around.name in subscript_symbols(read)]
    # A column of one array for a row of another would be no gain.
    in_rows = all(_is_last_index(read, around.name) for read in rows)
    return in_rows and any(node.name in subscript_symbols(read) for read in rows)


def _has_independent_iterations(loop: Loop) -> bool:
    """Whether the iterations of a loop store elements of their own, and read of these arrays no others (Bernstein
    1966), in assignments and reductions.
    """
    body = [each for node in loop.body for each in (node.body if isinstance(node, Loop) else (node,))]
    if not all(isinstance(node, Assign) for node in body):
        return False
    found = [a for a in body if isinstance(a, Assign)]
    stored = {a.target.name: a.target.index for a in found}
    read = [r for a in found for r in (a.target, *accesses(a.value)) if r.name in stored]
    own = all(_is_last_index(Reference(name, index), loop.name) for name, index in stored.items() if index)
    return own and all(stored.values()) and all(each.index == stored[each.name] for each in read)


class _Expansion(Rewriter):
    """Numbers as elements of rows."""

    def __init__(self, names: frozenset[str], at: Affine) -> None:
        self.names, self.at = names, at

    def reference(self, reference: Reference) -> Reference:
        return replace(reference, index=(self.at,)) if reference.name in self.names else super().reference(reference)


def _uses(nodes: Sequence[Node]) -> Counter[str]:
    """How often arrays are named."""
    found = Counter[str]()
    for assign in assignments(nodes):
        found.update(each.name for each in (assign.target, *accesses(assign.value)))
    return found


def _reads(assign: Assign, name: str) -> bool:
    return any(read.name == name for read in accesses(assign.value))


def _is_last_index(reference: Reference, name: str) -> bool:
    if not reference.index:
        return False
    *others, last = reference.index
    return last.coefficient(name) == 1 and all(name not in form.symbols for form in others)
