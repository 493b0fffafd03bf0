# SPDX-License-Identifier: Apache-2.0
"""Definedness of lanes: which vectors a kernel stores or compares where it has not written all lanes, as warnings.

A forward data-flow problem over values: for each the regions in which it has been written, and the declarations that it
comes from. A region is covered where one around it is, or both parts of a split (`cond` and `else_`). What the analysis
cannot follow, such as conditions that complete each other by their numbers, it reports: a message asks for a first
value, it refuses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.diagnostics import Diagnostic
from polyloom.ir.ssa import Block, Function, Instruction, Operand, Place, Undef, Value, successor_edges
from polyloom.targets.tensix.source.locate import make_diagnostic
from polyloom.targets.tensix.source.operations import VECTOR, called_operation
from polyloom.targets.tensix.source.regions import Path, Regions

Paths = frozenset[Path]
EVERYWHERE: Paths = frozenset({()})


@dataclass(frozen=True, slots=True)
class Definedness:
    """Definedness of a value: where it has been written, and the places of the declarations whose lanes it may still
    have.
    """

    paths: Paths
    origins: frozenset[Place] = frozenset()


_FULL = Definedness(EVERYWHERE)


def undefined_uses(function: Function, known: Regions) -> tuple[Diagnostic, ...]:
    """Warnings (PL1243, exit code 0), one per declaration, at it; the use is in a note."""
    cover = _Cover(known)
    values = _solve_data_flow(function, known, cover)
    found: dict[Place, Diagnostic] = {}
    for block in function.blocks:
        for k, instruction in enumerate(block.instructions):
            if (block.name, k) not in known.frames or not (use := _use_word(instruction)):
                continue
            here = known.path((block.name, k))
            for operand in instruction.operands:
                written = _operand_definedness(operand, values)
                if operand.type is VECTOR and not cover.holds(here, written.paths):
                    for origin in sorted(written.origins, key=_order):
                        # One warning per declaration: the first use is enough to find the mistake.
                        found.setdefault(origin, _lane_warning(origin, use, instruction.place))
    return tuple(found[origin] for origin in sorted(found, key=_order))


def _use_word(instruction: Instruction) -> str:
    """Use of lanes that must have a value by an instruction, or nothing."""
    row = called_operation(instruction)
    if row is None:
        return ""
    if row.name in ("store", "config_write", "lreg_write"):
        return "stored"
    return "compared" if row.group == "comparisons" or row.name == "mask_of" else ""


def _lane_warning(origin: Place, use: str, place: Place) -> Diagnostic:
    where = place.words(origin.file)
    note = (f"it is {use} at {where}",) if where else ()
    message = f"some lanes of this vector have no value where it is {use}"
    return make_diagnostic(
        "PL1243", message, origin, exit_code=0, notes=note, help="give it a value where it is declared"
    )


def _order(place: Place) -> tuple[str, int, int]:
    return place.file, place.line, place.column


class _Cover:
    """Covering of regions by others; remembers the splits by their whole."""

    def __init__(self, known: Regions) -> None:
        self.parts: dict[Path, list[tuple[Path, ...]]] = {}
        for split in known.splits:
            self.parts.setdefault(split.whole, []).append((split.taken, split.rest))
        for around, inside in known.same:
            self.parts.setdefault(around, []).append((inside,))

    def holds(self, path: Path, paths: Paths) -> bool:
        if any(path[: len(p)] == p for p in paths):
            return True
        # Paths outside of the region say nothing about its lanes.
        inside = frozenset(p for p in paths if p[: len(path)] == path)
        return bool(inside) and any(
            all(self.holds(part, inside) for part in parts) for parts in self.parts.get(path, ())
        )

    def met(self, a: Paths, b: Paths) -> Paths:
        """Meet: where both have been written."""
        if a == b:
            return a
        return frozenset({p for p in a if self.holds(p, b)} | {p for p in b if self.holds(p, a)})


_Values = dict[str, Definedness]


def _operand_definedness(operand: Operand, values: _Values) -> Definedness:
    """Definedness of an operand. A value that has not been met yet is taken as written: the solution only shrinks."""
    if isinstance(operand, Undef):
        return Definedness(frozenset())
    return values.get(operand.name, _FULL) if isinstance(operand, Value) else _FULL


def _solve_data_flow(function: Function, known: Regions, cover: _Cover) -> _Values:
    """Fixed point over all blocks (Kildall 1973), from all lanes written downwards."""
    values: _Values = {}
    blocks = {block.name: block for block in function.blocks}
    changed = True
    while changed:
        before = dict(values)
        for block in function.blocks:
            _transfer_block(block, known, cover, values)
            for edge in successor_edges(block.terminator):
                for parameter, argument in zip(blocks[edge.block].parameters, edge.arguments, strict=True):
                    if parameter.type is VECTOR:
                        values[parameter.name] = _join(
                            values.get(parameter.name), _operand_definedness(argument, values), cover
                        )
        changed = values != before
    return values


def _join(old: Definedness | None, new: Definedness, cover: _Cover) -> Definedness:
    return new if old is None else Definedness(cover.met(old.paths, new.paths), old.origins | new.origins)


def _transfer_block(block: Block, known: Regions, cover: _Cover, values: _Values) -> None:
    for k, instruction in enumerate(block.instructions):
        if (block.name, k) not in known.frames:
            continue
        made = _transfer(instruction, known.path((block.name, k)), cover, values)
        for result in instruction.results:
            if result.type is VECTOR:
                values[result.name] = made


def _transfer(instruction: Instruction, here: Path, cover: _Cover, values: _Values) -> Definedness:
    """Transfer function of an instruction: its results are defined where all its operands are."""
    row = called_operation(instruction)
    if row is not None and row.name == "undefined":
        return Definedness(frozenset(), frozenset({instruction.place}))
    operands = [operand for operand in instruction.operands if operand.type is VECTOR]
    if row is not None and row.name == "assign":
        old, new = (_operand_definedness(operand, values) for operand in operands)
        return _transfer_assignment(old, new, here, cover)
    written = _FULL
    for one in (_operand_definedness(operand, values) for operand in operands):
        written = Definedness(cover.met(written.paths, one.paths), written.origins | one.origins)
    return written


def _transfer_assignment(old: Definedness, new: Definedness, here: Path, cover: _Cover) -> Definedness:
    """Transfer function of an assignment in a region: defined there as the new value is, elsewhere as the old one."""
    if cover.holds(here, new.paths):
        # The region of the assignment is defined now, whatever was known of it before.
        paths = frozenset({*old.paths, here})
        return _FULL if cover.holds((), paths) else Definedness(paths, old.origins)
    inside = {p for p in new.paths if p[: len(here)] == here}
    return Definedness(
        frozenset({*(p for p in old.paths if p[: len(here)] != here), *inside}), old.origins | new.origins
    )
