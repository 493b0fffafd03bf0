# SPDX-License-Identifier: Apache-2.0
"""Recursion: a cycle of the call graph (Muchnick 1997, section 19.2), which no inlining ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polyloom.frontend.loops.affine import callee_name
from polyloom.frontend.loops.tree import Node, refusal


def check_recursion(function: Node, functions: Mapping[str, Node]) -> None:
    """Refusal of a function that reaches itself by calls of the file's `functions`, given by identity: PL0157."""
    known = {f.name: f for f in functions.values()}
    done, path = set[str](), [(function.name, _calls(function, known))]
    while path:
        call = next(path[-1][1], None)
        if call is None:
            done.add(path.pop()[0])
            continue
        name = callee_name(call)
        if name in (entered for entered, _ in path):
            help = "write a loop; a processor, `--on riscv`, runs the function as it is"
            raise refusal("PL0157", f"`{name}` calls itself{' through others' * (path[-1][0] != name)}", call, help)
        if name not in done:
            path.append((name, _calls(known[name], known)))


def _calls(function: Node, known: Mapping[str, Node]) -> Iterator[Node]:
    return (node for node in function if node.kind == "call" and callee_name(node) in known)
