# SPDX-License-Identifier: Apache-2.0
"""Request of an instantiation (the array paper, section 6): values for the parameters, and a region of the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.ir import arguments
from polyloom.ir.pla import Array
from polyloom.sets import Condition, Polyhedron
from polyloom.targets.tcpa.words import notation
from polyloom.targets.tcpa.words.symbolic import Symbolic

_LONGEST_SIDE: Final = (1 << 16) - 1
"""Rows, and columns, that a concrete file can count."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What has to be known to instantiate: no arrays."""

    name: str
    parameters: tuple[str, ...]
    assumptions: Condition
    inputs: tuple[Array, ...] = ()
    outputs: tuple[Array, ...] = ()


def signature(symbolic: Symbolic) -> Signature:
    """Signature of a configuration: its parameters and their domain (the validity domain that stands in the file)."""
    domain = Condition(
        tuple(
            Polyhedron(tuple(notation.affine(r, symbolic.dimensions, symbolic.parameters) for r in piece))
            for piece in symbolic.assumptions
        )
    )
    return Signature(symbolic.kernel, symbolic.parameters, domain)


def has_plain_types(
    symbolic: Symbolic, values: Mapping[str, int], region: tuple[int, int], candidate: int | None
) -> bool:
    """Fast-path test: whether the library can take the request as it is. It checks the domain and the machine's size
    itself, and what it refuses is asked for again here, where there are sentences for it.
    """
    return (
        arguments.has_plain_values(symbolic.parameters, values)
        and 0 < region[0] <= _LONGEST_SIDE
        and 0 < region[1] <= _LONGEST_SIDE
        and (candidate is None or candidate in range(len(symbolic.candidates)))
    )


def check_parameters(asked: Signature, parameters: Mapping[str, int]) -> tuple[int, ...]:
    """The values in the order of the parameters. Errors: PL0230."""
    return tuple(arguments.check_parameters(asked, parameters).values())


def check_region(symbolic: Symbolic, rows: int, columns: int) -> None:
    """PL0505 for a region that is empty, or larger than the machine or a file."""
    if rows < 1 or columns < 1:
        raise PolyloomError(
            Diagnostic("PL0505", f"a region of {rows}x{columns} has no element", USAGE, help="ask for at least 1x1")
        )
    most_rows, most_columns = _largest(symbolic.limits.rows), _largest(symbolic.limits.columns)
    if rows > most_rows or columns > most_columns:
        help = f"ask for at most {most_rows} rows and {most_columns} columns"
        raise PolyloomError(
            Diagnostic("PL0505", f"{symbolic.machine} has no region of {rows}x{columns}", USAGE, help=help)
        )


def _largest(limit: int | None) -> int:
    return _LONGEST_SIDE if limit is None else min(limit, _LONGEST_SIDE)
