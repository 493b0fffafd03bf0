# SPDX-License-Identifier: Apache-2.0
"""Wavefront skew lambda_K: how many cycles later each next row and column of elements starts (the array paper, section
5.2).

Every tile displacement theta that some use has demands (docs/targets/tcpa.md, Mapping to time)

    lambda_K . theta  >=  r + hop_delay * h - tau(w) - lambda_J . (d - P theta)

Displacement components are -1, 0 or 1, so this is an integer program in two variables with at most eight distinct left
sides. For a fixed row skew x the best column skew is the number nearest to 0 in an interval whose ends are piecewise
linear in x; the cost is convex in x, so an optimum lies at an integer next to a breakpoint of those pieces. All of them
are tried.
"""

from __future__ import annotations

from collections.abc import Iterable


def minimize_skew(bounds: Iterable[tuple[int, int, int]], rows: int, columns: int) -> tuple[int, int] | None:
    """Wavefront skew (row, column) of least `|row| * (rows - 1) + |column| * (columns - 1)` in cycles, or None when
    there is none.

    `bounds` are (row displacement, column displacement, bound): `row * lambda_r + column * lambda_c >= bound`,
    displacements in -1..1 and not both 0, the bound in cycles. A displacement along rows has no instance when `rows` is
    1, and its bound is ignored; likewise for columns. Ties go to the smaller sum of magnitudes, then to the smaller row
    and column skew.
    """
    least = _binding_bounds(bounds, rows, columns)
    best: tuple[int, int, int, int] | None = None
    # A linear program in two integers: for each row skew the best column skew is known, and the cost is piecewise
    # linear in the row skew.
    for row in _row_candidates(least, rows):
        column = _best_column(least, row)
        if column is not None:
            cost = (abs(row) * (rows - 1) + abs(column) * (columns - 1), abs(row) + abs(column), row, column)
            best = cost if best is None or cost < best else best
    return None if best is None else best[2:]


def _binding_bounds(bounds: Iterable[tuple[int, int, int]], rows: int, columns: int) -> dict[tuple[int, int], int]:
    """The binding bound of each displacement; an axis of one element has skew 0, which two opposite bounds say."""
    least = {
        theta: 0
        for theta, size in (((1, 0), rows), ((-1, 0), rows), ((0, 1), columns), ((0, -1), columns))
        if size == 1
    }
    for row, column, bound in bounds:
        if (row and rows == 1) or (column and columns == 1):
            continue
        theta = (row, column)
        if theta not in least or bound > least[theta]:
            least[theta] = bound
    return least


def _row_candidates(least: dict[tuple[int, int], int], rows: int) -> set[int]:
    """Breakpoints of the cost, and integers next to them: where the row's own bounds lie, where a bound on the column
    (a constant, or a line of slope 1 or -1) is 0, and where two of those bounds meet.
    """
    if rows == 1:
        return {0}
    own = {sign * least[sign, 0] for sign in (1, -1) if (sign, 0) in least}
    flat = {0} | {sign * least[0, sign] for sign in (1, -1) if (0, sign) in least}
    # With row displacement a and column displacement b, both 1 or -1: column = (bound - a row) / b = b bound - a b row.
    rising = {b * least[a, b] for a, b in ((1, -1), (-1, 1)) if (a, b) in least}
    falling = {b * least[a, b] for a, b in ((1, 1), (-1, -1)) if (a, b) in least}
    meets = {y - c for y in flat for c in rising} | {c - y for y in flat for c in falling}
    for high in falling:
        for low in rising:
            meets |= {(high - low) // 2, -((low - high) // 2)}
    lower, upper = least.get((1, 0)), least.get((-1, 0))
    return {x for x in own | meets | {0} if (lower is None or x >= lower) and (upper is None or -x >= upper)}


def _best_column(least: dict[tuple[int, int], int], row: int) -> int | None:
    """The admissible column skew nearest to 0 for this row skew."""
    lower = [bound - a * row for (a, b), bound in least.items() if b == 1]
    upper = [a * row - bound for (a, b), bound in least.items() if b == -1]
    # 0 is best, as near to it as the bounds allow.
    column = max(0, *lower) if lower else 0
    if upper and column > min(upper):
        column = min(upper)
    return None if lower and column < max(lower) else column
