# SPDX-License-Identifier: Apache-2.0
"""What an instantiation is asked for: values for the parameters of a symbolic configuration, and a region of its machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import SupportsIndex

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error
from polyloom.targets.tcpa.symbolic import Row, Symbolic


def check_parameters(symbolic: Symbolic, parameters: Mapping[str, int]) -> tuple[int, ...]:
    """The values in the order of `symbolic.parameters`; PL0501 to PL0504 where they do not fit."""
    missing = [n for n in symbolic.parameters if n not in parameters]
    if missing:
        raise input_error("PL0501", f"no value for parameter {', '.join(missing)} of {symbolic.kernel}", help=f"write {' '.join(f'{n}=16' for n in missing)}")
    unknown = [n for n in parameters if n not in symbolic.parameters]
    if unknown:
        known = ", ".join(symbolic.parameters) or "none"
        raise input_error("PL0502", f"{symbolic.kernel} has no parameter {', '.join(unknown)}", help=f"its parameters are: {known}")
    for name in symbolic.parameters:
        if not _is_bound(parameters[name]):
            raise input_error("PL0503", f"parameter {name} = {parameters[name]!r} is not an integer from 0 to 2147483647", help=f"write {name}=16")
    values = tuple(index(parameters[n]) for n in symbolic.parameters)
    if not any(all(parametric(r, values) >= 0 for r in piece) for piece in symbolic.assumptions):
        given = ", ".join(f"{n} = {v}" for n, v in zip(symbolic.parameters, values, strict=True))
        domain = " or ".join(" and ".join(f"{_text(r, symbolic.parameters)} >= 0" for r in piece) for piece in symbolic.assumptions)
        raise input_error(
            "PL0504", f"{given} is outside of the domain of {symbolic.kernel}", help=f"choose values with {domain or 'nothing: the domain is empty'}"
        )
    return values


def _is_bound(value: object) -> bool:
    return isinstance(value, SupportsIndex) and not isinstance(value, bool) and 0 <= index(value) < 1 << 31


def check_region(symbolic: Symbolic, rows: int, columns: int) -> None:
    """PL0505 for a region that is empty or larger than the machine."""
    limits = symbolic.limits
    if rows < 1 or columns < 1:
        raise PolyloomError(Diagnostic("PL0505", f"a region of {rows}x{columns} has no element", USAGE, help="ask for at least 1x1"))
    if (limits.rows is not None and rows > limits.rows) or (limits.columns is not None and columns > limits.columns):
        largest = f"{limits.rows or rows}x{limits.columns or columns}"
        raise PolyloomError(Diagnostic("PL0505", f"{symbolic.machine} has no region of {rows}x{columns}", USAGE, help=f"ask for at most {largest}"))


def parametric(row: Row, values: Sequence[int]) -> int:
    """The value of a row's part without dimensions."""
    return row.constant + sum(a * v for a, v in zip(row.params, values, strict=True))


def _text(row: Row, names: Sequence[str]) -> str:
    terms = [f"{'' if a == 1 else '-' if a == -1 else f'{a}*'}{n}" for a, n in zip(row.params, names, strict=True) if a]
    return " + ".join([*terms, str(row.constant)] if row.constant or not terms else terms).replace("+ -", "- ")
