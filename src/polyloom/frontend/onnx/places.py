# SPDX-License-Identifier: Apache-2.0
"""Places in a model: its text has a line per node, in ONNX's syntax without attributes, which messages and listings
point into."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from polyloom.diagnostics import Source, Span

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_LISTED: Final = 200
"""Characters of a line of the text."""


def node_text(node: NodeProto) -> str:
    """A node in ONNX's syntax."""
    line = f"{', '.join(node.output)} = {node.op_type}({', '.join(node.input)})"
    return re.sub(r"\s", " ", line)[:_LISTED]


def node_spans(path: str, model: ModelProto) -> list[Span]:
    """The line of each node."""
    lines = [node_text(node) for node in model.graph.node]
    source, found, at = Source(path, "\n".join(lines)), list[Span](), 0
    for line in lines:
        found.append(Span(source, at, at + len(line)))
        at += len(line) + 1
    return found


def node_label(number: int, node: NodeProto) -> str:
    """What messages call a node: its number, its name and its operator."""
    return f"node {number}{f' `{node.name}`' if node.name else ''} ({node.op_type})"
