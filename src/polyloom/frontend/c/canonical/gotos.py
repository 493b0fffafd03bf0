# SPDX-License-Identifier: Apache-2.0
"""Goto elimination: jumps forward become branches, with what they skip on the other side (Böhm and Jacopini, CACM 1966;
Erosa and Hendren 1994), and those backward become `do` and `while` loops (C17, section 6.8.6.1).

A jump that leaves a loop or enters a statement stays, and is refused at its place: the one depends on data, the other
may make a graph that is not reducible (Hecht and Ullman 1974).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.jumps import structure_jumps
from polyloom.frontend.loops.substatements import Statements, flatten_blocks, map_statements
from polyloom.frontend.loops.tree import Node


def eliminate_gotos(body: Node) -> Node:
    """Goto elimination in a function's body; labels that nothing goes to are left out, too."""
    if any(node.kind == "computed goto" for node in body):
        return body
    return _structure_block(body, _targets((body,)))


def _structure_block(node: Node, targets: Mapping[str, int]) -> Node:
    # Inner statements first: a label is then the target of jumps of its own list or of none that can be written out.
    while node.kind == "label" and not targets.get(node.symbol):
        node = node.inner[-1]
    node = map_statements(node, lambda child: (_structure_block(child, targets),))
    return _remove_labels(node, targets) if node.kind == "block" else node


def _targets(nodes: Iterable[Node]) -> Counter[str]:
    """How many jumps go to each label."""
    return Counter(part.symbol for node in nodes for part in node if part.kind == "goto")


def _remove_labels(body: Node, targets: Mapping[str, int]) -> Node:
    found = list(_split_labels(body))
    # Jumps from elsewhere enter this list; those in it become more where branches are written twice.
    entered = {label for label, count in targets.items() if _targets(found)[label] < count}
    while (at := next((n for n, node in enumerate(found) if node.kind == "label"), None)) is not None:
        label = found[at].symbol
        made = None
        if label not in entered:
            made = (
                _eliminate_backward_jump(found, at, targets)
                if _targets(found[at:])[label]
                else _eliminate_forward_jumps(found, at)
            )
        if made is None:
            return body
        found = made
    return replace(body, inner=tuple(found))


def _split_labels(node: Node) -> Iterable[Node]:
    """The statements of a block, with a label as a statement of its own before what it labels."""
    for child in flatten_blocks(node):
        inner = child
        while inner.kind == "label" and inner.inner:
            yield replace(inner, inner=())
            inner = inner.inner[-1]
        yield from flatten_blocks(inner)


def _eliminate_forward_jumps(found: list[Node], at: int) -> list[Node] | None:
    """Statements without the forward jumps to a label; None where a loop around one of them remains."""
    label = found[at].symbol
    before, declared = _hoist_declarations(found[:at], found[at:])
    jump = f"goto {label}"
    named = tuple(make.replace_nodes(node, lambda part: _match_label(part, label, jump)) for node in before)
    made = structure_jumps(named, jump)
    if any(part.kind == jump for node in made for part in node):
        return None
    return [*declared, *made, *found[at + 1 :]]


def _match_label(node: Node, label: str, kind: str) -> Node | None:
    return replace(node, kind=kind) if node.kind == "goto" and node.symbol == label else None


def _hoist_declarations(before: Iterable[Node], behind: Iterable[Node]) -> tuple[list[Node], list[Node]]:
    """Declarations that stay visible behind a label: those that move into a branch leave an assignment there."""
    used = {part.symbol for node in behind for part in node if part.kind == "name"}
    kept, declared = list[Node](), list[Node]()
    for node in before:
        if node.kind != "declare" or not any(d.symbol in used for d in node.inner):
            kept.append(node)
            continue
        for each in node.inner:
            # A list of values is no expression: such an array stays where it is.
            if each.symbol not in used or (each.initial and each.inner[-1].kind == "list"):
                kept.append(replace(node, inner=(each,)))
                continue
            declared.append(replace(node, inner=(replace(each, initial=False, inner=()) if each.initial else each,)))
            if each.initial:
                kept.append(make.assignment(make.variable_reference(each, each), each.inner[-1], each))
    return kept, declared


def _eliminate_backward_jump(found: list[Node], at: int, targets: Mapping[str, int]) -> list[Node] | None:
    """Loop of a label to which exactly one jump goes back: `L: S; if (c) goto L;` is `do S while (c)`, and
    `L: if (c) goto E; S; goto L; E:` is a `while`.
    """
    label = found[at].symbol
    backs = [n for n in range(at + 1, len(found)) if _targets(found[n : n + 1])[label]]
    if len(backs) != 1 or _targets(found[: at + 1])[label]:
        return None
    end = found[backs[0]]
    inside, rest = found[at + 1 : backs[0]], found[backs[0] + 1 :]
    if _goes(end, label):
        test = end.inner[0]
    else:
        leaves = rest[0].symbol if rest and rest[0].kind == "label" else ""
        is_while = end.kind == "goto" and inside and leaves and _goes(inside[0], leaves)
        if not is_while or targets[leaves] != 1:
            return None
        test, inside, rest = _negate_test(inside[0].inner[0]), inside[1:], rest[1:]
    body = _remove_labels(replace(end, kind="block", ctype="", inner=tuple(inside)), targets)
    # A jump out of the loop would make the number of its turns depend on data.
    if any(part.kind in ("goto", "label") for part in body):
        return None
    parts = (body, test) if end.kind == "if" else (test, body)
    loop = replace(end, kind="do" if end.kind == "if" else "while", inner=parts)
    return [*found[:at], loop, *rest]


def _goes(node: Node, label: str) -> bool:
    """Whether a statement is `if (c) goto label;`."""
    inside: Statements = flatten_blocks(node.inner[1]) if node.kind == "if" and len(node.inner) == 2 else ()
    return len(inside) == 1 and inside[0].kind == "goto" and inside[0].symbol == label


def _negate_test(test: Node) -> Node:
    return Node("unary", test.span, "int", (test,), "!", macro=test.macro)
