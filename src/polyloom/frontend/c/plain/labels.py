# SPDX-License-Identifier: Apache-2.0
"""Unused labels: one that no `goto` goes to names a loop for the reader, and for tools of high-level synthesis; it is
left out (C17, section 6.8.1).
"""

from __future__ import annotations

from polyloom.frontend.loops.substatements import Statements, map_statements
from polyloom.frontend.loops.tree import Node


def remove_labels(body: Node) -> Node:
    """Without labels, unless there is a `goto`, whose refusal then says what is the matter."""
    if any(node.kind in ("goto", "computed goto") for node in body):
        return body
    return map_statements(body, _rewrite_statement)


def _rewrite_statement(node: Node) -> Statements:
    while node.kind == "label":
        node = node.inner[-1]
    return (map_statements(node, _rewrite_statement),)
