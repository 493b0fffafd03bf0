# SPDX-License-Identifier: Apache-2.0
"""Pipeline of loops that are no products, on one page: a nest to the parts of a program for its sizes.

- specialization: parameters become numbers; `a * b + c` is one operation where --fp allows it.
- arrangement: loops in another order, where that makes them parallel (transform.parallel.arrangement; Allen and
  Kennedy 2001, chapter 5).
- `share_work`: dependences, ownership of lines, vectors: which hart executes what.
- `parts`: code, evictions and barriers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polyloom.ir.instance_counts import count_operations
from polyloom.ir.nest import Nest, loops
from polyloom.targets.minion.map.frame import Part, Team
from polyloom.targets.minion.map.phase_work import Setting
from polyloom.targets.minion.map.simd import spmd_program
from polyloom.targets.minion.map.simd.memory import place_locals
from polyloom.targets.minion.map.simd.parallel_machine import machine_description
from polyloom.targets.minion.map.simd.row_sharing import Ownership, row_arrays
from polyloom.targets.minion.map.simd.short_division import SCRATCH
from polyloom.targets.minion.options import Fp
from polyloom.transform.parallel.arrangement import arrange_loops
from polyloom.transform.parallel.contraction import contract
from polyloom.transform.parallel.specialization import specialize
from polyloom.transform.parallel.work_sharing import share_work


@dataclass(frozen=True, slots=True)
class Compiled:
    """Code of a nest. `alone` are sentences: why parts of the nest are executed by one hart. `operations` are those of
    the source on floats and integers, a multiply-add counted once (None: too many to count); `scratch` is the memory
    that locals take.
    """

    parts: Sequence[Part]
    alone: tuple[str, ...]
    operations: int | None
    scratch: int


def compile_nest(nest: Nest, setting: Setting, fp: Fp, *, others: bool) -> Compiled:
    """Code of a nest for its sizes. Where there are `others`, phases before and behind, what those need does not stay
    in caches. Errors: PL1350 to PL1352.
    """
    own = specialize_nest(nest, setting.values, fp)
    made = arrange_nest(own, setting.team, fp)
    shared = share_work(made, machine_description(setting.team))
    # Arrays of partial results and expanded temporaries are locals of the arranged nest, and need memory of their own.
    place = place_locals(made, setting.arrays, setting.scratch)
    owned = Ownership(setting.shire_rows, setting.owned_rows, _nest_names(setting, setting.near))
    parts = spmd_program.program_parts(
        made, shared, place, setting.team, setting.prefix, setting.later if others else None, owned
    )
    taken = place.scratch + SCRATCH * setting.team.workers - setting.scratch
    named = set(loops(own.body))
    # Only loops that the user wrote: those of copies would be told twice.
    alone = dict.fromkeys(_user_names(why) for loop, why in shared.serial_reasons.items() if _user_names(loop) in named)
    return Compiled(parts, tuple(alone), count_operations(own), taken)


def owner_arrays(nest: Nest, fp: Fp, setting: Setting) -> frozenset[str]:
    """Arrays of the program of which each shire accesses its own rows only."""
    made = arrange_nest(specialize_nest(nest, setting.values, fp), setting.team, fp)
    names = row_arrays(share_work(made, machine_description(setting.team)).items, made, setting.owned_rows)
    return frozenset(setting.arrays[name].name for name in names if name in setting.arrays)


def _nest_names(setting: Setting, names: frozenset[str]) -> frozenset[str]:
    """A nest's names of arrays of the program."""
    return frozenset(inner for inner, placed in setting.arrays.items() if placed.name in names)


def _user_names(text: str) -> str:
    """Text with the user's names of loops: those of copies have a number behind a dot."""
    return re.sub(r"(?<=\w)\.\d+", "", text)


def specialize_nest(nest: Nest, values: Mapping[str, int], fp: Fp) -> Nest:
    """Nest at its sizes, in the arithmetic that `--fp` asks for."""
    made = specialize(nest, values)
    return made if fp == "strict" else contract(made)


def arrange_nest(nest: Nest, team: Team, fp: Fp) -> Nest:
    """Nest with its loops in the order of the code."""
    return arrange_loops(nest, machine_description(team), reassociate=fp == "reassociate")
