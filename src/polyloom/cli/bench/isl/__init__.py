# SPDX-License-Identifier: Apache-2.0
"""The peer of `polyloom bench instantiation`: the paper's program instantiation (sections 6.1 to 6.3, Algorithms 1 to
4) on isl.

The paper's prototype was made like this: every set is an isl object, classes and kernels come from Algorithm 1, the
edges of a control flow graph from all pairs of its nodes. `prepare` parses all sets; `instantiate`, the timed part,
neither parses nor prints. Where the paper contradicts itself, and about ports that drive nothing, it decides as the
package does, so that it gives the package's classes and kernels. What the package does besides is left out: the choice
of a candidate, FIFO depths, the limits of the machine, out-degrees included. It shares the syntax tree and the
instructions with the package, no set operation and no algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from polyloom.cli.bench.isl.classes import leaves, processor_classes, specialize
from polyloom.cli.bench.isl.control import Palette
from polyloom.cli.bench.isl.kernels import Scan, control_flow
from polyloom.cli.bench.isl.program import Program, generate
from polyloom.cli.bench.isl.tiles import Prepared, Tiles, prepare

__all__ = ["Instance", "instantiate", "prepare"]


@dataclass(frozen=True, slots=True)
class Instance:
    """`classes`: the elements {[row, column]} of every processor class, and its programs by functional unit; `signals`:
    one-domains."""

    classes: tuple[tuple[isl.Set, tuple[Program, ...]], ...]
    signals: tuple[isl.Set, ...]


def instantiate(prepared: Prepared, values: Sequence[int], region: tuple[int, int], sizes: Sequence[int]) -> Instance:
    """The processor classes and their programs for parameter values (in the file's order), rows and columns, and tile
    sizes by dimension."""
    tiles = Tiles(prepared, values, region, sizes)
    tree, scan, palette = leaves(tiles), Scan(prepared.interval, tiles.extents), Palette()
    classes: dict[tuple[Program, ...], isl.Set] = {}
    for elements in processor_classes(tree):
        units, domains = specialize(tree, elements)
        programs = tuple(
            generate(control_flow(scan, units[u], domains), palette) if u in units else ()
            for u in range(prepared.units)
        )
        classes[programs] = classes[programs].union(elements) if programs in classes else elements
    return Instance(
        tuple((elements.coalesce(), programs) for programs, elements in classes.items()), tuple(palette.ones)
    )
