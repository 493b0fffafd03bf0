# SPDX-License-Identifier: Apache-2.0
"""`polyloom dominators`: dominators, or post-dominators, and dominance frontiers of the graph in a JSON file."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise
from time import perf_counter
from typing import Final, cast, get_args

import numpy as np
import numpy.typing as npt

from polyloom import files
from polyloom.analysis.dominators import (
    MAX_FRONTIER,
    Frontiers,
    Nodes,
    Strategy,
    dominance_frontiers,
    dominators,
    reversed_edges,
)
from polyloom.analysis.flow_graph import find_fault
from polyloom.cli import arguments as shared
from polyloom.cli.answer import Answer, table
from polyloom.cli.arguments import Parser, Request
from polyloom.cli.json_text import Document, Path, parse_json
from polyloom.diagnostics import PolyloomError, input_error, nearest

_KEYS: Final = ("n", "root", "edges")
_EXAMPLE: Final = 'write a graph as {"n": 3, "root": 0, "edges": [[0, 1], [1, 2]]}'


def arguments(parser: Parser) -> None:
    shared.file_operand(parser, 'a graph (.json): {"n": ..., "root": ..., "edges": [[u, v], ...]}')
    parser.add_argument(
        "--strategy",
        metavar="NAME",
        default="balanced",
        help=f"one of {', '.join(get_args(Strategy))}; the result is the same",
    )
    parser.add_argument(
        "--post",
        action="store_true",
        help="post-dominators: a virtual exit, numbered n, follows all nodes without successors",
    )
    parser.add_argument("--frontiers", action="store_true", help="dominance frontiers too")
    parser.add_argument(
        "--max-frontier", metavar="N", default=str(MAX_FRONTIER), help="refuse frontiers of more members in all"
    )


def execute(options: Request) -> Answer:
    if (limit := shared.integer(options.max_frontier, "--max-frontier")) < 0:
        raise shared.usage_error(f"--max-frontier is {limit}", "write a number from 0 on")
    strategy = cast(Strategy, options.strategy)
    n, edges, root = nodes, graph, start = read(options.file)
    if options.post:
        nodes, graph, start = n + 1, reversed_edges(n, edges), n
    begin = perf_counter()
    idom = dominators(nodes, graph, start, strategy)[:n]
    seconds = perf_counter() - begin
    frontiers = (
        _lists(dominance_frontiers(nodes, graph, start, strategy, limit=limit), n) if options.frontiers else None
    )
    data: dict[str, object] = {"idom": idom.tolist(), "seconds": seconds}
    if frontiers is not None:
        data["frontiers"] = frontiers
    return Answer(data, "" if options.json else _table(idom, frontiers, root=None if options.post else root))


def read(path: str) -> tuple[int, Nodes, int]:
    """n, edges (m, 2) and root of a graph in a file; errors PL0807, PL0960 to PL0964, shown at their place."""
    document = parse_json(files.read(path), path, _EXAMPLE)
    members = _members(document)
    n = _integer(document, ("n",), members["n"])
    root = _integer(document, ("root",), members.get("root", 0))
    edges = _edges(document, members["edges"])
    if (fault := find_fault(n, edges, root)) is not None:
        raise fault.error(document.value_span(fault.place))
    return n, edges.astype(np.int32), root


def _members(document: Document) -> dict[str, object]:
    if not isinstance(document.value, dict):
        raise _type_error(document, (), "an object")
    members = cast("dict[str, object]", document.value)
    for key in members:
        if key not in _KEYS:
            raise input_error(
                "PL0961", f"a graph has no key '{key}'", span=document.key_span((key,)), help=nearest(key, _KEYS, "key")
            )
    if (repeated := document.repeated_key()) is not None:
        raise input_error(
            "PL0961", f"the key '{repeated[0]}' is given twice", span=repeated[1], help=f"give '{repeated[0]}' once"
        )
    for key in ("n", "edges"):
        if key not in members:
            raise input_error("PL0961", f"the graph has no key '{key}'", span=document.value_span(()), help=_EXAMPLE)
    return members


def _integer(document: Document, path: Path, value: object) -> int:
    if type(value) is not int:  # true and false are int to isinstance
        raise _type_error(document, path, "an integer")
    return value


def _edges(document: Document, value: object) -> npt.NDArray[np.generic]:
    """An array (m, 2) of integers; of objects where one is beyond 64 bits."""
    if not isinstance(value, list):
        raise _type_error(document, ("edges",), "a list of edges")
    edges = cast("list[object]", value)
    for k in _unlike(edges, list):
        raise _type_error(document, ("edges", k), "an edge [from, to]")
    pairs = cast("list[list[object]]", edges)
    for k in (k for k, pair in enumerate(pairs) if len(pair) != 2):
        raise _type_error(document, ("edges", k), "an edge [from, to]")
    ends = list(chain.from_iterable(pairs))
    for k in _unlike(ends, int):
        raise _type_error(document, ("edges", k // 2, k % 2), "an integer")
    try:
        return np.array(ends, np.int64).reshape(-1, 2)
    except OverflowError:
        return np.array(ends, np.object_).reshape(-1, 2)


def _unlike(values: list[object], kind: type) -> Iterable[int]:
    """The indices of values of another type; the set of types is told at once for millions of values."""
    return () if set(map(type, values)) <= {kind} else (k for k, value in enumerate(values) if type(value) is not kind)


def _type_error(document: Document, path: Path, wanted: str) -> PolyloomError:
    span = document.value_span(path)
    title = "".join(f"[{step}]" if isinstance(step, int) else step for step in path) or "the graph"
    return input_error("PL0962", f"{title} is {document.text(span)}, which is not {wanted}", span=span, help=_EXAMPLE)


def _lists(frontiers: Frontiers, n: int) -> list[list[int]]:
    flat = cast("list[int]", frontiers.members.tolist())
    return [flat[a:b] for a, b in pairwise(cast("list[int]", frontiers.start[: n + 1].tolist()))]


def _table(idom: Nodes, frontiers: list[list[int]] | None, root: int | None) -> str:
    rows: list[dict[str, object]] = [
        {"node": v, "idom": _dominator(v, int(d), root, len(idom))} for v, d in enumerate(idom)
    ]
    if frontiers is not None:
        rows = [
            {**row, "frontier": " ".join(map(str, frontier))} for row, frontier in zip(rows, frontiers, strict=True)
        ]
    return table(rows)


def _dominator(node: int, idom: int, root: int | None, n: int) -> object:
    if node == root:
        return "root"
    if idom < 0:
        return "unreached" if root is not None else "no exit"
    return idom if idom < n else "exit"
