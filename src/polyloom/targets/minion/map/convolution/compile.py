# SPDX-License-Identifier: Apache-2.0
"""Code generation of a convolution for given sizes: what has to be packed first, which tiles minions compute, and the
code (implicit matrix products per tap, without an im2col copy; Chetlur et al., cuDNN, 2014).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.analysis.convolution import Convolution
from polyloom.diagnostics import infeasible, input_error
from polyloom.ir.ssa import Place
from polyloom.targets.minion.machine import MINIONS_PER_SHIRE
from polyloom.targets.minion.map.convolution.data_layout import Room, build_shape
from polyloom.targets.minion.map.convolution.loop import Buffer, convolution_loop
from polyloom.targets.minion.map.convolution.move import move_loops
from polyloom.targets.minion.map.convolution.predict import choose_tile, cycles
from polyloom.targets.minion.map.frame import Part, barrier
from polyloom.targets.minion.map.phase_work import Made, Setting
from polyloom.targets.minion.map.product.compile import (
    is_factor_overwritten,
    must_evict,
    on_first_harts,
    phase_end_waits,
)
from polyloom.targets.minion.map.product.operand import Kind
from polyloom.targets.minion.map.product.tensor_assembly import STORED, wait
from polyloom.targets.minion.memory_map import SCRATCHPAD
from polyloom.targets.minion.words.tiles import TILE
from polyloom.targets.target import Json

_OWN: Final = SCRATCHPAD + (0x7F << 23)
"""The scratchpad of whichever shire asks."""
_PACKED: Final = 30
"""The FLB that tells that a group of moves is done."""


def convolution_code(c: Convolution, kind: Kind, place: Place, outermost: bool, setting: Setting) -> Made:
    """Code of a convolution. Errors: PL1339 for options of products, PL1341 for rows that masks cannot hold."""
    options = setting.options
    asked = {"--resident": options.resident, "--split-k": (options.split_k or 1) > 1, "--broadcast": options.broadcast}
    if any(asked.values()):
        name = next(name for name, is_asked in asked.items() if is_asked)
        message = f"{name} is for products, and this is a convolution"
        raise input_error("PL1339", message, help=f"leave {name} out")
    room = Room(setting.scratch)
    found = build_shape(c, kind, setting.arrays, setting.values, room, outermost=outermost)
    s = choose_tile(found, setting.team.minions)
    if s is None:
        message = f"a row of `{c.image}` is too long for the masks of a padded convolution, or its steps are"
        help = "give rows of fewer than 32768 pixels and strides below 128, or an image that has its border"
        raise infeasible("PL1341", message, help=help)
    if c.begins:
        s = replace(s, begins=setting.arrays[c.begins].address, evicts=must_evict(c.begins, c.result, setting))
    # Moves of one group may read what those of the group before wrote, so a barrier ends each group.
    parts = list[Part]()
    packs = replace(place, reason="packs an operand into the order of the tensor unit")
    for number, group in enumerate(room.groups):
        named = replace(setting, prefix=f"{setting.prefix}.pack{number}")
        lines = [*move_loops(group, setting.team, named.prefix), wait(STORED)]
        parts += [
            on_first_harts(Part(tuple(lines), packs), named, "skip"),
            barrier(setting.team, f"{named.prefix}.all", _PACKED),
        ]
    # Turning a tile over passes through memory: the shire's scratchpad is nearer than DRAM, and a tile for each minion
    # is all it takes.
    own = setting.scratchpad >= MINIONS_PER_SHIRE * TILE
    at = _OWN if own else room.take(setting.team.minions * TILE)
    lines = convolution_loop(s, setting.team, Buffer(at, own), setting.prefix)
    # The result was computed in another order of dimensions and is moved to its place once it is complete.
    if room.last:
        parts.append(on_first_harts(Part((*lines, wait(STORED)), place), setting, "skip"))
        parts.append(barrier(setting.team, f"{setting.prefix}.summed", _PACKED))
        setting = replace(setting, prefix=f"{setting.prefix}.back")
        lines = move_loops(room.last, setting.team, setting.prefix)
    parts.append(
        on_first_harts(
            Part((*lines, *phase_end_waits(setting, streams=is_factor_overwritten(setting, c.weight))), place),
            setting,
            "skip",
        )
    )
    facts: dict[str, Json] = {"split_k": 1, "predicted_cycles": cycles(s, setting.team.minions)}
    # Useful multiply-adds leave out taps outside of the image.
    depth = setting.arrays[c.image].shape[c.channel]
    macs, buffer = s.useful_pairs * s.channels * depth, TILE if own and s.turns else None
    return Made(tuple(parts), facts, macs, kind.peak, room.free - setting.scratch, buffer=buffer)
