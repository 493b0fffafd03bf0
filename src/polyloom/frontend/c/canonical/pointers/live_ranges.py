# SPDX-License-Identifier: Apache-2.0
"""Live range splitting of pointers (Cytron and Gershbein 1993): one that points into several arrays in turn becomes one
for each, so that each has one array (see `pointers`).

A pointer that both sides of a branch set to different arrays has what follows in both sides (tail duplication: Muchnick
1997, section 18.8); one that the end of a loop's body sets to another array has the first turn before the loop (loop
peeling: Wolfe 1996).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from polyloom.frontend.c.canonical.inlining import has_effect
from polyloom.frontend.c.canonical.pointers.sources import (
    is_pointer,
    list_assignments,
    roots,
    source,
    variable_identity,
)
from polyloom.frontend.loops import make
from polyloom.frontend.loops.counters import count_uses, is_dead_variable
from polyloom.frontend.loops.substatements import Statements, block, child_statements, flatten_blocks, map_statements
from polyloom.frontend.loops.tree import Node, strip_casts

_LOOPS = ("for", "while", "do")
_MOST_COPIES = 8
"""Of what follows branches, or of turns before loops: beyond that the code would grow too far."""


def split_pointers(body: Node, parameters: Sequence[Node]) -> Node:
    """Live range splitting of a body's pointers, until each has one array or nothing helps."""
    numbers, copies = count(1), 0
    while copies < _MOST_COPIES:
        declared = [n for n in (*parameters, *body) if n.kind in ("parameter", "variable") and is_pointer(n)]
        pointers = {n.symbol: n for n in declared}
        assigned = {name for name, _, _ in _assignments(body) if name in pointers}
        known = roots(body, {name: n for name, n in pointers.items() if n.kind == "variable" or name in assigned})
        # What leads to a pointer that is split follows by itself: it is looked at again in the next round.
        split = _ambiguous_pointers(body, {name: pointers[name] for name in assigned if name not in known}, known)
        splitting = _Splitting(split, pointers, numbers, body)
        changed = splitting.block(body) if split else body
        if changed is body:
            break
        body, copies = changed, copies + splitting.copies
    # A declaration that is left has no array, and would be refused.
    while True:
        unused = Counter(map(_voided_name, body))
        used = {name for name, uses in count_uses((body,)).items() if uses > unused[name]}
        changed = map_statements(body, lambda node, used=used: _remove_dead_pointers(node, used))
        # A pointer may be there for one that was dead.
        if sum(1 for _ in changed) == sum(1 for _ in body):
            return changed
        body = changed


def _voided_name(node: Node) -> str:
    """The x of `(void)x`, which says that x is not used."""
    return strip_casts(node.inner[0]).symbol if node.kind == "cast" and node.ctype == "void" else ""


def _remove_dead_pointers(node: Node, used: Collection[str]) -> Statements:
    """Declarations without pointers that nothing uses."""
    if (name := _voided_name(node)) and name not in used:
        return ()
    if node.kind == "declare":
        live = (d for d in node.inner if d.symbol in used or not is_pointer(d) or has_effect(d))
        kept = tuple(live)
        return (replace(node, inner=kept),) if kept else ()
    return (map_statements(node, lambda child: _remove_dead_pointers(child, used)),)


def _ambiguous_pointers(
    body: Node, unknown: Mapping[str, Node], known: Mapping[str, tuple[Node, int]]
) -> Mapping[str, Node]:
    """Pointers that are given two arrays themselves, first; others follow from these."""
    bases = dict[str, set[str]]()
    for name, value in list_assignments(body):
        begin = source(value) if name in unknown else None
        if begin is not None and begin.base.symbol not in unknown:
            base = known.get(begin.base.symbol, (begin.base, 0))[0]
            bases.setdefault(name, {name} if unknown[name].kind == "parameter" else set()).add(base.symbol)
    return {name: unknown[name] for name, found in bases.items() if len(found) > 1} or unknown


def _assignments(node: Node) -> Iterator[tuple[str, Node, Node]]:
    """Variables that statements set, with the value and the statement; `p = p + 2` moves a pointer only."""
    for part in node:
        if part.kind == "binary" and part.opcode == "=" and (name := variable_identity(part.inner[0])):
            begin = source(part.inner[1])
            if begin is None or begin.base.symbol != name:
                yield name, part.inner[1], part


class _Splitting:
    """One round of splitting in a body, at the first place that needs it: what is made is looked at again."""

    def __init__(
        self, pointers: Mapping[str, Node], declared: Mapping[str, Node], numbers: Iterator[int], whole: Node
    ) -> None:
        self.pointers, self.declared, self.numbers, self.whole = pointers, declared, numbers, whole
        self.is_done, self.copies = False, 0

    def block(self, node: Node) -> Node:
        """A statement with what is split within it; the same one if nothing is."""
        if node.kind != "block":
            inner = map_statements(node, self._child)
            return inner if self.is_done else node
        statements = flatten_blocks(node)
        for n, statement in enumerate(statements):
            made = self._split(statements[:n], statement, statements[n + 1 :])
            if made is not None:
                self.is_done = True
                return replace(node, inner=made)
            inside = self.block(statement)
            if self.is_done:
                return replace(node, inner=(*statements[:n], inside, *statements[n + 1 :]))
        return node

    def _child(self, node: Node) -> Statements:
        return (node if self.is_done else self.block(node),)

    def _split(self, before: Statements, statement: Node, rest: Statements) -> Statements | None:
        if statement.kind == "if" and rest and self._sets(statement):
            return (*before, self._duplicate_tail(before, statement, rest))
        if statement.kind in _LOOPS and self._sets_at_end(statement):
            return (*before, *self._peel_turn(statement), *rest)
        name = self._assigned_pointer(statement)
        if name and self._is_dead_elsewhere(name, statement, rest):
            return (*before, *self._new_range(name, statement, rest))
        return None

    def _assigned_pointer(self, statement: Node) -> str:
        found = next(_assignments(statement), None) if statement.kind == "binary" else None
        return found[0] if found is not None and found[0] in self.pointers and found[2] is statement else ""

    def _sets(self, statement: Node) -> bool:
        """Whether a side of a branch sets a pointer for what follows, by a test of sizes."""
        # Behind a test of data both copies would execute.
        sizes = all(n.kind not in ("element", "call", "member") and n.opcode != "*" for n in statement.inner[0])
        sides = [s for side in statement.inner[1:] for s in flatten_blocks(side)]
        return sizes and any(self._assigned_pointer(s) or (s.kind == "if" and self._sets(s)) for s in sides)

    def _sets_at_end(self, loop: Node) -> bool:
        """Whether a loop's body sets a pointer at its end, for the next turn, which reads it before it sets it."""
        body = flatten_blocks(child_statements(loop)[0])
        return any((name := self._assigned_pointer(s)) and not is_dead_variable(name, body) for s in body)

    def _duplicate_tail(self, before: Statements, branch: Node, rest: Statements) -> Node:
        test, *sides = branch.inner
        second = flatten_blocks(sides[1]) if len(sides) > 1 else ()
        own = self._dead_pointers(before, branch, rest)
        paths = ((*flatten_blocks(sides[0]), *rest), (*second, *self._copy_statements(rest)))
        copies = [block(self._rename_pointers(own, before, path), branch) for path in paths]
        return replace(branch, inner=(test, *copies))

    def _dead_pointers(self, before: Statements, branch: Node, rest: Statements) -> list[str]:
        """Pointers that a branch or what follows it sets, and that nothing reads behind that."""
        found = {name for s in (branch, *rest) for name, _, _ in _assignments(s) if name in self.declared}
        inside = {n.symbol for s in (branch, *rest) for n in s if n.kind == "variable"}
        whole, around = count_uses((self.whole,)), count_uses((*before, branch, *rest))
        return [
            name
            for name in sorted(found - inside)
            if whole[name] == around[name] and self._outer_loop(branch, name) is None
        ]

    def _rename_pointers(self, own: Sequence[str], before: Statements, path: Statements) -> Statements:
        """A path with pointers of its own, which begin with the values that the others have there."""
        suffix = f"@{next(self.numbers)}"
        given = {name for s in before for name, _, _ in _assignments(s)}
        first = list[Node]()
        for name in own:
            declaration = self.declared[name]
            has_value = declaration.kind == "parameter" or declaration.initial or name in given
            value = make.variable_reference(declaration, path[0]) if has_value else None
            made = make.declare_variable(declaration.name, declaration.ctype, f"{name}{suffix}", path[0], value)
            first.append(made)
        names = set(own)
        return (*first, *(make.replace_nodes(s, lambda node: _rename_copy(node, names, suffix)) for s in path))

    def _peel_turn(self, loop: Node) -> Statements:
        """The first turn, and the loop over the others."""
        body = child_statements(loop)[0]
        first = self._copy_statements(flatten_blocks(body))
        if loop.kind == "do":
            return (*first, replace(loop, kind="while", inner=(loop.inner[1], body)))
        if loop.kind == "while":
            return (Node("if", loop.span, inner=(loop.inner[0], block((*first, loop), loop))),)
        start = (loop.inner[0],) if loop.inner[0].kind else ()
        step = (loop.inner[3],) if loop.inner[3].kind else ()
        others = replace(loop, kind="while", inner=(loop.inner[2], block((*flatten_blocks(body), *step), body)))
        return (*start, Node("if", loop.span, inner=(loop.inner[2], block((*first, *step, others), loop))))

    def _copy_statements(self, statements: Statements) -> Statements:
        """Copies of statements, whose own variables are others."""
        own = {n.symbol for s in statements for n in s if n.kind == "variable"}
        self.copies += 1
        number = next(self.numbers)
        return tuple([make.replace_nodes(s, lambda node: _rename_copy(node, own, f"@{number}")) for s in statements])

    def _is_dead_elsewhere(self, name: str, assigned: Node, rest: Statements) -> bool:
        """Whether nothing but `rest` reads what an assignment sets: no statement behind it, and no next turn."""
        inside = {id(n) for s in (assigned, *rest) for n in s}
        names = [n for n in self.whole if n.kind == "name" and n.symbol == name]
        loop = self._outer_loop(assigned, name)
        turns = {id(n) for n in loop} if loop is not None else set[int]()
        position = {id(n): at for at, n in enumerate(self.whole)}
        end = max(position[id(n)] for s in (assigned, *rest) for n in s)
        return all(
            id(n) in inside or (id(n) not in turns and position[id(n)] < end) for n in names
        ) and not _is_trivial(assigned, name, self.whole)

    def _outer_loop(self, statement: Node, name: str) -> Node | None:
        """The outermost loop around a statement that does not declare the pointer."""
        around = (n for n in self.whole if n.kind in _LOOPS and any(part is statement for part in n))
        return next((n for n in around if not any(p.kind == "variable" and p.symbol == name for p in n)), None)

    def _new_range(self, name: str, assigned: Node, rest: Statements) -> Statements:
        declaration, suffix = self.pointers[name], f"@{next(self.numbers)}"
        own = replace(declaration, kind="variable", initial=True, inner=(assigned.inner[1],), symbol=f"{name}{suffix}")
        declared = Node("declare", assigned.span, inner=(own,), macro=assigned.macro)
        names = {name}
        return (declared, *(make.replace_nodes(s, lambda node: _rename_copy(node, names, suffix)) for s in rest))


def _is_trivial(assigned: Node, name: str, whole: Node) -> bool:
    """Whether an assignment is the first that a declared pointer gets, so that a split would change nothing."""
    others = [value for other, value, part in _assignments(whole) if other == name and part is not assigned]
    has_initial = any(n.kind == "variable" and n.symbol == name and n.initial for n in whole)
    is_local = any(n.kind == "variable" and n.symbol == name for n in whole)
    return is_local and not others and not has_initial


def _rename_copy(node: Node, names: set[str], suffix: str) -> Node | None:
    if node.symbol not in names or node.kind not in ("name", "variable"):
        return None
    inner = tuple([make.replace_nodes(child, lambda part: _rename_copy(part, names, suffix)) for child in node.inner])
    return replace(node, symbol=f"{node.symbol}{suffix}", inner=inner)
