# SPDX-License-Identifier: Apache-2.0
"""The instantiation that the package has, from data to data: what is tested further on has been through the files and
the library."""

from __future__ import annotations

from collections.abc import Mapping

from polyloom.targets.tcpa.run import instantiation
from polyloom.targets.tcpa.words import concrete_file, symbolic_file
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.request import check_parameters, check_region, signature
from polyloom.targets.tcpa.words.symbolic import Symbolic


def instantiate(
    symbolic: Symbolic, parameters: Mapping[str, int], rows: int, columns: int, *, candidate: int | None = None
) -> Concrete:
    values = check_parameters(signature(symbolic), parameters)
    check_region(symbolic, rows, columns)
    return concrete_file.decode(
        instantiation.instantiate(symbolic_file.encode(symbolic), symbolic, values, rows, columns, candidate=candidate)
    )
