# SPDX-License-Identifier: Apache-2.0
"""Random nests: imperfect, triangular, upwards and downwards, with conditions, temporaries and reads that overlap
writes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from hypothesis import strategies as st
from tests.transform.nest.text import nest

from polyloom.ir.nest import Nest

DECLARATIONS = "A[2 * N + 2]; B[N + 3, N + 3]; local t; r[1]"
DEPTH = 3
INNER = ("range({0})", "range({0}, N)", "range({0}, -1, -1)", "range(max(0, {0} - 1), min(N, {0} + 2))")


@st.composite
def programs(draw: st.DrawFn) -> Nest:
    """Every access is inside its array; `t` is assigned before it is read."""
    lines = ["t = 1", *_block(draw, [], 0, count())]
    return nest(DECLARATIONS, "\n".join(lines), name="random")


def _block(draw: st.DrawFn, loops: list[str], depth: int, fresh: Iterator[int]) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3 if depth < 2 else 2))):
        kind = draw(st.sampled_from(["loop", "loop", "assign", "if"] if depth < DEPTH else ["assign"]))
        if depth == 0 or kind == "loop":
            name = f"{'ijkl'[len(loops)]}{next(fresh)}"
            lines += [
                f"for {name} in {draw(_range(loops))}:",
                *_indented(_block(draw, [*loops, name], depth + 1, fresh)),
            ]
        elif kind == "if":
            lines += [f"if {draw(_condition(loops))}:", *_indented(_block(draw, loops, depth + 1, fresh))]
            lines += ["else:", *_indented(_block(draw, loops, depth + 1, fresh))] if draw(st.booleans()) else []
        elif draw(st.integers(0, 3)) == 0:
            lines += draw(_branches(loops))
        else:
            lines.append(f"{draw(_element(loops))} = {draw(_value(loops))}")
    return lines


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _range(loops: list[str]) -> st.SearchStrategy[str]:
    plain = ["range(N)", "range(1, N)", "range(N - 1, -1, -1)", "range(min(N, 2))"]
    inner = [text.format(loop) for loop in loops for text in INNER]
    return st.sampled_from(plain + inner)


def _condition(loops: list[str]) -> st.SearchStrategy[str]:
    bound = [loop + text for loop in loops for text in (" > 0", " == N - 1", " != 1", f" <= {loops[0]}")]
    return st.sampled_from([*bound, "N > 2"]) | st.builds(
        "{} or {}".format, st.sampled_from(bound), st.sampled_from(bound)
    )


def _element(loops: list[str]) -> st.SearchStrategy[str]:
    one = st.sampled_from([*loops, *(f"{x} + {c}" for x in loops for c in (1, 2)), "0", "N"])
    line = st.sampled_from(
        [*loops, *(f"N - {x}" for x in loops), *(f"{x} + {y}" for x in loops for y in loops), "N + 1"]
    )
    return st.builds("A[{}]".format, line) | st.builds("B[{}, {}]".format, one, one) | st.sampled_from(["t", "r[0]"])


@st.composite
def _branches(draw: st.DrawFn, loops: list[str]) -> list[str]:
    """Assignments in the two branches of a condition on data, the branches perhaps of another condition."""
    element = _element(loops)
    condition, target = draw(element), draw(element)
    other = draw(st.sampled_from([condition, draw(element)]))
    lines = [
        f"{target} = select({condition} > 0, {draw(_value(loops))}, {target})",
        f"{target} = select({other} > 0, {target}, {draw(_value(loops))})",
    ]
    return (
        [f"t = {condition}", *(line.replace(f"{condition} > 0", "t > 0") for line in lines)]
        if draw(st.booleans())
        else lines
    )


def _value(loops: list[str]) -> st.SearchStrategy[str]:
    """Copies are as frequent as sums."""
    element = _element(loops)
    return (
        element
        | st.builds("{} + 3 * {}".format, element, element)
        | st.builds("{} - {}".format, element, st.sampled_from([*loops, "5"]))
    )
