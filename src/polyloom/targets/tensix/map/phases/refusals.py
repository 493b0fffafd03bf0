# SPDX-License-Identifier: Apache-2.0
"""Which error a program gets that neither stages nor phases of vector code take, with the other one as a note: whole
arrays what stages lack, which are their operations; loops what phases lack."""

from __future__ import annotations

from dataclasses import replace

from polyloom.diagnostics import PolyloomError
from polyloom.ir.nest import Nest
from polyloom.ir.operations import FLOATS


def combine_refusals(nest: Nest, stages: PolyloomError, phases: PolyloomError) -> PolyloomError:
    """Error of a program whose `stages` and `phases` have one each. A type that a tile has not got is the program's own
    mistake; but floats beside integers are accepted in stages, so that the user has to know what they lack.
    """
    (found,), (other,) = stages.diagnostics, phases.diagnostics
    if other.code == "PL1230":
        return stages
    if other.code != "PL1232" or not has_mixed_types(nest):
        return phases
    note = f"as phases of vector code: {other.message}" + (f"; {other.help}" if other.help else "")
    return stages if note in found.notes or other.message == found.message else _with_note(stages, note)


def refuse_loops(nest: Nest, stages: str, phases: PolyloomError) -> PolyloomError:
    """Error of loops, of which phases take most; of mixed types with what `stages` lack."""
    (found,) = phases.diagnostics
    if found.code != "PL1232" or not has_mixed_types(nest):
        return phases
    return _with_note(phases, f"as products and formulas: {stages}")


def has_mixed_types(nest: Nest) -> bool:
    """Whether a nest has both floats and integers."""
    return len({storage.dtype in FLOATS for storage in nest.storage}) > 1


def _with_note(error: PolyloomError, note: str) -> PolyloomError:
    (found,) = error.diagnostics
    return PolyloomError(replace(found, notes=(*found.notes, note)))
