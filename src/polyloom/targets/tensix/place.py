# SPDX-License-Identifier: Apache-2.0
"""Which member of the family: `tensix` or `tensix:wormhole`, `tensix:blackhole`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.targets.tensix.words.dram_port import DramPort
from polyloom.targets.tensix.words.isa import MEMBERS, Member


@dataclass(frozen=True, slots=True)
class Place:
    """A member."""

    member: Member

    def __str__(self) -> str:
        return self.member


def place(text: str) -> Place:
    """What follows `tensix:`. Errors: PL1204."""
    wanted = text or MEMBERS[0]
    found: Member | None = next((member for member in MEMBERS if member == wanted), None)
    if found is None:
        message = f"there is no Tensix tile '{text}'"
        raise PolyloomError(Diagnostic("PL1204", message, USAGE, help=nearest(text, MEMBERS, "member")))
    return Place(found)


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
    member = place(name).member
    size, local = ((0x170000, "4 KiB (B, NC), 2 KiB (T0, T1, T2)"), (0x180000, "8 KiB (B, NC), 4 KiB (T0, T1, T2)"))[
        member == "blackhole"
    ]
    rows = [f'name = "{member}"', f"l1_bytes = {size:#x}", f'local_ram = "{local}"', f'include = "{include()}"']
    if member == "wormhole":
        port = DramPort(0)
        rows += [f"noc_bytes_per_cycle = {port.bytes_per_cycle}", f"noc_latency = {port.latency}"]
    return "\n".join(rows) + "\n"
