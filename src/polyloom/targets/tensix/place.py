# SPDX-License-Identifier: Apache-2.0
"""Which member of the family: `tensix` or `tensix:wormhole`, `tensix:blackhole`; `tensix:wormhole:8x8` is a grid of
tiles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.targets.tensix.words.chip import CHANNELS, TILE_COLUMNS, TILE_ROWS, Memory
from polyloom.targets.tensix.words.dram_port import DramPort
from polyloom.targets.tensix.words.isa import MEMBERS, Member


@dataclass(frozen=True, slots=True)
class Place:
    """A member, and of a grid its rows and columns of tiles."""

    member: Member
    grid: tuple[int, int] | None = None

    def __str__(self) -> str:
        return self.member if self.grid is None else "{}:{}x{}".format(self.member, *self.grid)


def place(text: str) -> Place:
    """What follows `tensix:`. Errors: PL1204."""
    name, is_grid, grid = text.partition(":")
    wanted = name or MEMBERS[0]
    found: Member | None = next((member for member in MEMBERS if member == wanted), None)
    if found is None:
        message = f"there is no Tensix tile '{wanted}'"
        raise PolyloomError(Diagnostic("PL1204", message, USAGE, help=nearest(wanted, MEMBERS, "member")))
    return Place(found, _grid(found, grid) if is_grid else None)


def _grid(member: Member, text: str) -> tuple[int, int]:
    size = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})", text)
    rows, columns = (int(size[1]), int(size[2])) if size else (0, 0)
    if member != "wormhole" or not 1 <= rows <= len(TILE_ROWS) or not 1 <= columns <= len(TILE_COLUMNS):
        message = f"there is no grid '{text}' of tiles of {member.capitalize()}"
        help = f"write rows and columns, at most {len(TILE_ROWS)} and {len(TILE_COLUMNS)}: tensix:wormhole:8x8"
        raise PolyloomError(Diagnostic("PL1204", message, USAGE, help=help))
    return rows, columns


def include() -> str:
    """Folder of the macro header, the addresses, crt0.S and the linker scripts, for a C compiler's -I and -T."""
    package = find_spec("polyloom")
    # The spec is asked, and not this file's folder: generated headers lie in the installed package.
    folders = (package and package.submodule_search_locations) or []  # two of an editable installation
    places = [Path(folder) / "include" / "tensix" for folder in folders]
    return str(next(filter(Path.is_dir, places), places[0]))


def describe(name: str) -> str:
    """Description of a member in TOML: bytes of L1, local memories, folder of headers, port to DRAM (ISA documentation,
    pages of `BabyRISCV` and NoC).
    """
    found = place(name)
    member = found.member
    size, local = ((0x170000, "4 KiB (B, NC), 2 KiB (T0, T1, T2)"), (0x180000, "8 KiB (B, NC), 4 KiB (T0, T1, T2)"))[
        member == "blackhole"
    ]
    rows = [f'name = "{member}"', f"l1_bytes = {size:#x}", f'local_ram = "{local}"', f'include = "{include()}"']
    if member == "wormhole":
        port = DramPort(0)
        rows += [f"noc_bytes_per_cycle = {port.bytes_per_cycle}", f"noc_latency = {port.latency}"]
    if found.grid is not None:
        memory = Memory(0)
        rows += [f"tiles = {[*found.grid]}", f"dram_channels = {CHANNELS}"]
        rows += [f"dram_bytes_per_cycle = {memory.bytes_per_cycle}", f"dram_latency = {memory.latency}"]
    return "\n".join(rows) + "\n"
