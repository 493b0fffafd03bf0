# SPDX-License-Identifier: Apache-2.0
"""What makes a rooted graph: at least one node, no more than memory holds, a root and edges among the nodes 0 to n - 1.

A fault names its place by a path such as `("edges", 3, 0)`, so that a reader of files can show it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Final, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import PolyloomError, Span, input_error
from polyloom.memory import available_bytes, size_text

Path = tuple[str | int, ...]
Nodes = npt.NDArray[np.int32]
Integers = npt.NDArray[np.integer] | Sequence[int]
Edges = npt.NDArray[np.integer] | Sequence[Sequence[int]]

_MOST: Final = 2**31 - 2  # nodes and edges are numbered by 32-bit integers, and a virtual exit is one more
_NODE_BYTES: Final = 200
_EDGE_BYTES: Final = 40
_ANYWHERE: Final = 2**28  # bytes that any machine has; asking takes longer than the dominators of a small graph


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at `place`."""

    place: Path
    code: str
    message: str
    help: str

    def error(self, span: Span | None = None) -> PolyloomError:
        return input_error(self.code, self.message, span=span, help=self.help)


def checked_graph(n: SupportsIndex, edges: Edges, root: SupportsIndex) -> tuple[int, Nodes, int]:
    """The graph in native types; errors PL0962 to PL0964."""
    count, start, array = _integer("n", n), _integer("root", root), integers("edges", edges)
    # NumPy gives an empty list the type float64 and one dimension; an empty graph is no error.
    if array.size == 0:
        array = np.empty((0, 2), np.int32)
    if array.ndim != 2 or array.shape[1] != 2:
        raise input_error(
            "PL0962",
            f"edges has the shape {array.shape}",
            help="give an array of shape (m, 2): a row (from, to) for each edge",
        )
    if (fault := find_fault(count, array, start)) is not None:
        raise fault.error()
    return count, np.ascontiguousarray(array, np.int32), start


def find_fault(n: int, edges: npt.NDArray[np.generic], root: int) -> Fault | None:
    """The first fault of a graph; `edges` has the shape (m, 2), and holds objects where integers are huge."""
    if n < 1:
        return Fault(
            ("n",),
            "PL0963",
            f"n is {_short(n)}: a graph has at least one node, its root",
            "write the number of nodes, from 1 on",
        )
    # Estimates of the native structures, upwards: a refusal is better than a process that is killed.
    needed = n * _NODE_BYTES + len(edges) * _EDGE_BYTES
    if needed > _ANYWHERE and (max(n, len(edges)) > _MOST or needed > available_bytes()):
        why = (
            f"n is {_short(n)}, which with {len(edges)} edges needs {size_text(needed)} of memory; there are "
            f"{size_text(available_bytes())}"
        )
        return Fault(("n",), "PL0963", why, "number only the nodes that edges reach, from 0 on")
    return find_invalid_node("edges", edges, n) if 0 <= root < n else _node_fault(("root",), root, n)


def find_invalid_node(name: str, nodes: npt.NDArray[np.generic], n: int) -> Fault | None:
    """The first element that is none of 0 to n - 1; its place is `name` and its index in the array."""
    found = cast("npt.NDArray[np.int64]", nodes)
    if found.size == 0 or (found.min() >= 0 and found.max() < n):
        return None
    at = tuple(int(k) for k in np.argwhere((found < 0) | (found >= n))[0])
    return _node_fault((name, *at), int(found[at]), n)


def _node_fault(place: Path, node: int, n: int) -> Fault:
    title = "".join([str(place[0]), *(f"[{k}]" for k in place[1:])])
    return Fault(
        place,
        "PL0964",
        f"{title} is {_short(node)}, which is no node of a graph with n = {n}",
        f"write a node from 0 to {n - 1}",
    )


def integers(name: str, values: Integers | Edges) -> npt.NDArray[np.integer]:
    """An array of integers, which may be empty; error PL0962."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise _type_fault(name, "rows of different lengths") from None
    # The type of an empty array says nothing.
    if array.size and array.dtype.kind not in "iu":
        raise _type_fault(name, f"elements of type {array.dtype}")
    return array


def _type_fault(name: str, what: str) -> PolyloomError:
    return input_error("PL0962", f"{name} has {what}", help="give an array of integers, for instance of type int32")


def _integer(name: str, value: SupportsIndex) -> int:
    try:
        return index(value)
    except TypeError:
        raise input_error(
            "PL0962", f"{name} is {value!r}, which is not an integer", help=f"give {name} as an int"
        ) from None


def _short(value: int) -> str:
    """Python refuses to print thousands of digits."""
    return str(value) if abs(value) < 10**30 else f"{'-' if value < 0 else ''}a number of more than 30 digits"
