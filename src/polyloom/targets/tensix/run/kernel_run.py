# SPDX-License-Identifier: Apache-2.0
"""Runner of a vector kernel's executable on core T1 of a tile: tiles into Dst, arguments into L1, and what came of it.

Inputs and outputs are places of the tile (places.py), `dst:bf16` for instance; the format of the first input is what
vector loads and stores without a format of their own take. Scalars are the kernel's run-time arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.riscv.image import elf_image
from polyloom.targets.tensix.run.places import TilePlace, parse_place, read_place, write_place
from polyloom.targets.tensix.run.tile import UNITS, Outcome, Tile
from polyloom.targets.tensix.source.driver import CALLS, FACES, SETUP, setup_words
from polyloom.targets.tensix.source.executable import CORE
from polyloom.targets.tensix.source.note import Note
from polyloom.targets.tensix.source.prints import COUNT, LOG, read_log
from polyloom.targets.tensix.words.numbers import DST_FORMATS

Array = NDArray[Any]
THREAD: Final = 1
_DST: Final = "dst:"
DEFAULTS: Final = {16: "bf16", 32: "fp32"}
_VECTOR: Final = UNITS.index("vector")


@dataclass(frozen=True, slots=True)
class KernelRun:
    """Result of a run: the tile afterwards, its Dst before, the outcome, printed text, and counts of instructions: into
    the MOP expander, out of it, out of the Replay expander.
    """

    tile: Tile
    before: Array
    outcome: Outcome
    text: str
    passed: tuple[int, int, int]

    @property
    def replayed(self) -> int:
        """Replayed instructions: those that the Replay expander gave and nobody pushed; the commands that it swallowed
        count as pushed.
        """
        return max(0, self.passed[2] - self.passed[1])

    @property
    def vector(self) -> int:
        """Words that the vector unit executed."""
        return int(self.tile.native.unit(_VECTOR)[0])


def run(
    data: bytes,
    note: Note,
    inputs: Mapping[str, Array],
    *,
    tiles: int = 1,
    hazards: Any = "error",
    max_cycles: int = 10**8,
    tracing: bool = False,
    accounting: bool = False,
) -> KernelRun:
    """Run of a kernel's executable over its inputs. Errors: PL1220 to PL1226, PL1290 and PL1291 for inputs that do not
    fit the kernel.
    """
    tile = open_kernel(data, note, inputs, tiles, hazards)
    tile.native.tracing, tile.native.accounting = tracing, accounting
    # A copy: the comparison with the interpreter starts from the same bits.
    before = tile.dst.copy()
    outcome = tile.run(max_cycles)
    text = read_log(tile.l1, note.data[COUNT], note.data[LOG]) if LOG in note.data else ""
    return KernelRun(tile, before, outcome, text, tile.threads()[THREAD])


def open_kernel(data: bytes, note: Note, inputs: Mapping[str, Array], tiles: int, hazards: Any) -> Tile:
    """Tile before its first cycle: the executable and the arguments in L1, inputs in Dst, core T1 released."""
    tile = Tile(note.member, hazards)
    tile.release("t1", load_program(tile, data))
    form, placed = dst_inputs(inputs, note.dest)
    for at, array in placed.items():
        write_place(tile, at, array)
    # The driver reads the number of calls as data, so that one executable serves all inputs.
    calls = tiles * (FACES if note.per == "face" else 1)
    words = {note.data[name]: word for name, word in zip(SETUP, setup_words(form), strict=True)}
    # Written after the program is loaded, whose image holds the defaults.
    words |= {note.data[CALLS]: calls, **argument_words(note, inputs)}
    for address, word in words.items():
        tile.l1[address : address + 4] = np.frombuffer((word & 0xFFFFFFFF).to_bytes(4, "little"), np.uint8)
    return tile


def load_program(tile: Tile, data: bytes) -> int:
    """Loader of the program into L1; returns its entry. Errors: PL0910, PL1224."""
    image = elf_image(data, CORE)
    for segment in image.segments:
        end = segment.address + segment.size
        # A file that was built for a member with more L1 is refused before anything is overwritten.
        if end > len(tile.l1):
            message = f"the program has a segment at {segment.address:#x} that does not lie in L1"
            raise input_error("PL1224", message, help="compile the kernel again")
        tile.l1[segment.address : segment.address + len(segment.data)] = np.frombuffer(segment.data, np.uint8)
    return image.entry


def dst_inputs(inputs: Mapping[str, Array], dest: int) -> tuple[str, dict[TilePlace, Array]]:
    """Inputs of Dst and their format; without one, a tile that is made up. Errors: PL1225, PL1290."""
    found = {parse_place(name): array for name, array in inputs.items() if name.startswith(_DST)}
    if not found:
        form = DEFAULTS[dest]
        return form, {parse_place(_DST + form): default_tile()}
    # One format is implied for the whole kernel, so the first input decides.
    form = next(iter(found)).format
    for at in found:
        if DST_FORMATS.get(at.format) != dest:
            *others, last = (form for form, width in DST_FORMATS.items() if width == dest)
            fits = f"{', '.join(others)} or {last}"
            help = f"give dst:{DEFAULTS[dest]}, or write --dest {16 if dest == 32 else 32}"
            raise input_error("PL1290", f"{at.text} does not fit a Dst of {dest} bits, which is {fits}", help=help)
    return form, found


def default_tile() -> Array:
    """Default input: a tile of uniform numbers from −4 to 4, the same every time."""
    return np.random.default_rng(0).uniform(-4, 4, (32, 32)).astype(np.float32)


def argument_words(note: Note, inputs: Mapping[str, Array]) -> dict[int, int]:
    """Words of the run-time arguments, by address. Errors: PL1291."""
    return {place: argument_bits(name, inputs) for name, place in note.arguments.items()}


def argument_bits(name: str, inputs: Mapping[str, Array]) -> int:
    """Bits of a run-time argument, as an unsigned or signed number of 32 bits. Errors: PL1291."""
    value = inputs.get(name)
    number = None if value is None else int(value)
    if number is not None and -(1 << 31) <= number < 1 << 32:
        return number
    what = "has no value" if number is None else f"is {number}, which 32 bits do not hold"
    raise input_error("PL1291", f"the argument `{name}` {what}", help=f"write {name}=0x3f800000, or in decimal")


def read_outputs(ran: KernelRun, inputs: Mapping[str, Array], wanted: Sequence[str], dest: int) -> dict[str, Array]:
    """Outputs of a run: the places that are asked for, or those of the inputs; in the shape of an input of the same
    name, or a tile.
    """
    _, placed = dst_inputs(inputs, dest)
    given = {at.text: array for at, array in placed.items()}
    like = next(iter(given.values()))
    found: dict[str, Array] = {}
    for name in wanted or given:
        at = parse_place(name)
        found[name] = read_place(ran.tile, at, None, given.get(name, like if name.startswith(_DST) else None))
    return found


def check_inputs(inputs: Mapping[str, Array], note: Note) -> PolyloomError | None:
    """Check that every input is a place of Dst or an argument: PL1291 for the first that is neither."""
    for name in inputs:
        if not name.startswith(_DST) and name not in note.arguments:
            known = ", ".join((*note.arguments, "dst:FORMAT"))
            return input_error("PL1291", f"the kernel `{note.kernel}` has no input `{name}`", help=f"it has {known}")
    return None
