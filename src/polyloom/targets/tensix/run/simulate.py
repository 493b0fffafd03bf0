# SPDX-License-Identifier: Apache-2.0
"""Driver of `simulate --on tensix`: programs for cores, images in L1 or words for a thread, run on a tile; inputs and
outputs are places of the tile (places.py).

A positional ELF file is B's, or T1's where it is a vector kernel, `--core t1=FILE` another core's; only these cores
leave reset. Raw words and text are pushed into the thread of `--thread`; raw words at an address, FILE@ADDRESS, lie in
L1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, Final, cast

import numpy as np

from polyloom import files, npy
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, Span, input_error
from polyloom.riscv.image import MAGIC
from polyloom.targets.target import Given, Json, Loaded, Simulated, Simulation
from polyloom.targets.tensix.options import THREADS, Options
from polyloom.targets.tensix.place import Place
from polyloom.targets.tensix.run.events import trace
from polyloom.targets.tensix.run.places import TilePlace, check_output, parse_place, read_place, write_place
from polyloom.targets.tensix.run.tile import CORES, UNITS, Finding, Outcome, Tile
from polyloom.targets.tensix.source.note import decode
from polyloom.targets.tensix.words import program
from polyloom.targets.tensix.words.disassemble import disassemble
from polyloom.targets.tensix.words.encode import to_bytes
from polyloom.targets.trace import Trace

_SIZED: Final = re.compile(r"(.+):(-?[0-9]{1,18})", re.DOTALL)
_NPY: Final = ".npy"
_LOCAL: Final = 0xFFB00000
"""Where the memories begin that are a core's own."""


def simulate(asked: Simulation) -> Simulated:
    """Simulation of programs on a tile. Errors: PL1200 to PL1226; what a run meets is in the result."""
    options, place = cast(Options, asked.options), cast(Place, asked.place)
    if not asked.files and not options.core:
        help = "write a file, such as `polyloom simulate k.tts --on tensix --thread t1`"
        raise PolyloomError(Diagnostic("PL0801", "there is no program", USAGE, help=help))
    inputs = {parse_place(text): path for text, path in asked.inputs.items()}
    outputs = {parse_place(text): split_size(path) for text, path in asked.outputs.items()}
    sources = [*(f.path for f in asked.files), *(path for _, path in options.core), *inputs.values()]
    # Outputs that cannot be written are found before a long run.
    files.check_outputs([*asked.written, *(path for path, _ in outputs.values())], sources)
    tile = Tile(place.member, options.hazards, options.mmio == "ignore")
    tile.native.tracing = asked.trace
    lines = _load_files(tile, asked.files, options, place)
    given = {at: _read_input(at, path) for at, path in inputs.items()}
    for at, array in given.items():
        write_place(tile, at, array)
    for at, (_, size) in outputs.items():
        check_output(tile, at, size, given.get(at))
    start = perf_counter()
    # Faults are part of the result here: the report and the trace up to them are what the user wants.
    outcome = tile.run(options.max_cycles, check=False)
    seconds = perf_counter() - start
    found = {at: read_place(tile, at, size, given.get(at)) for at, (_, size) in outputs.items()}
    written = {path: _encode_output(path, found[at]) for at, (path, _) in outputs.items()}
    shapes: dict[str, Json] = {at.text: {"dtype": str(a.dtype), "shape": list(a.shape)} for at, a in found.items()}
    about: dict[str, Json] = {"verified": None, "kernel": _kernel_name(asked), "on": f"tensix:{asked.place}"}
    data = about | run_json(tile, outcome, lines) | {"run_seconds": seconds, "outputs": shapes}
    error = outcome.error()
    diagnostics = tuple(_locate_diagnostics(error.diagnostics, outcome, lines)) if error is not None else ()
    return Simulated(
        data, summary_text(_kernel_name(asked), outcome), written, trace(tile) if asked.trace else Trace(), diagnostics
    )


def _load_files(tile: Tile, given: Sequence[Loaded], options: Options, place: Place) -> Sequence[Span | None]:
    """Loader of all files into their memories; returns where the words stand that were pushed, in their order."""
    taken: list[tuple[int, int, str]] = []
    lines: list[Span | None] = []
    started: list[str] = []
    for file in given:
        if file.address is not None:
            data = _l1_image(file, options, place)
            _check_overlap(taken, file.address, len(data), file.path)
            write_place(tile, TilePlace(file.path, address=file.address), np.frombuffer(data, np.uint8))
        elif file.data.startswith(MAGIC):
            # The note of a vector kernel's executable says that it is T1's.
            core = "b" if decode(file.data) is None else "t1"
            _start_core(tile, core, file.path, file.data, taken, started)
        else:
            lines += _push_words(tile, file, options, place)
    for core, path in options.core:
        _start_core(tile, core, path, files.read(path), taken, started)
    return lines


def _l1_image(file: Loaded, options: Options, place: Place) -> bytes:
    """Bytes that lie in L1: those of a file, or the words of text in the form that is asked for."""
    if not file.path.endswith(program.TEXT):
        return file.data
    found = program.read(Given(file.path, file.data, place, options))
    return to_bytes([item.word for item in found.items], options.form)


def _start_core(
    tile: Tile, core: str, path: str, data: bytes, taken: list[tuple[int, int, str]], started: list[str]
) -> None:
    if core in started:
        raise input_error("PL1224", f"core {core} is given two programs", help="give each core one")
    image = program.executable(data, path)
    for segment in image.segments:
        _check_overlap(taken, segment.address, segment.size, f"{path} of core {core}")
    # Other cores stay in reset, as after power-on: a program that needs them has to release them itself.
    tile.release(core, tile.load_elf(core, path))
    started.append(core)


def _check_overlap(taken: list[tuple[int, int, str]], address: int, size: int, path: str) -> None:
    """Overlap check of images in L1; each core has local memory of its own. Errors: PL1224."""
    # Addresses from here on mean another memory for each core.
    if address >= _LOCAL:
        return
    for start, end, other in taken:
        if size and address < end and start < address + size:
            both = f"{path} and {other}" if path != other else f"two parts of {path}"
            message = f"{both} overlap at {max(address, start):#x}"
            raise input_error("PL1224", message, help="give them other addresses")
    taken.append((address, address + size, path))


def _push_words(tile: Tile, file: Loaded, options: Options, place: Place) -> list[Span | None]:
    if options.thread is None:
        help = f"write --thread t1 to push it into a thread, or {file.path}@0x20000 to place it in L1"
        raise input_error("PL1224", f"'{file.path}' has words, and no thread", help=help)
    found = program.read(Given(file.path, file.data, place, options))
    tile.push(options.thread, [item.word for item in found.items])
    return [item.span for item in found.items]


def split_size(text: str) -> tuple[str, int | None]:
    """Size behind `FILE:SIZE`: bytes of L1, tiles of L1 in a format, or rows of Dst."""
    found = _SIZED.fullmatch(text)
    return (found[1], int(found[2])) if found is not None else (text, None)


def _read_input(at: TilePlace, path: str) -> Any:
    if path.endswith(_NPY):
        return npy.read(path)
    # Raw bytes have neither a shape nor a type, which a place with a format needs.
    if at.name or at.format:
        raise input_error("PL1226", f"'{path}' is no .npy file", help=f"{at.text} takes an array, numpy.save writes it")
    return np.frombuffer(files.read(path), np.uint8)


def _encode_output(path: str, array: Any) -> bytes:
    return npy.encode(array) if path.endswith(_NPY) else cast(bytes, array.tobytes())


def run_json(tile: Tile, outcome: Outcome, lines: Sequence[Span | None] = ()) -> dict[str, Json]:
    """JSON of a run of a tile: how it ended, and counters of threads, cores and units."""
    threads: dict[str, Json] = {
        name: {"instructions": passed[0], "after_mop": passed[1], "after_replay": passed[2]}
        for name, passed in zip(THREADS, tile.threads(), strict=True)
    }
    return {
        "verified": None,
        "cycles": outcome.cycles,
        "operations": sum(tile.native.unit(n)[0] for n in range(1, len(UNITS))),
        "run_seconds": None,
        "outputs": {},
        "stop": outcome.stop,
        "hazards": [_finding_json(found, lines) for found in outcome.hazards],
        "fault": None if outcome.fault is None else _finding_json(outcome.fault, lines),
        "waits": list(outcome.waits),
        "threads": threads,
        "cores": {core: tile.native.retired(n) for n, core in enumerate(CORES) if tile.native.retired(n)},
        "utilization": {**tile.utilization()},
        "ignored_mmio": tile.native.ignored_mmio,
    }


def _kernel_name(asked: Simulation) -> str:
    options = cast(Options, asked.options)
    paths = [*(f.path for f in asked.files), *(path for _, path in options.core)]
    return Path(paths[0]).stem if paths else "tile"


def _finding_json(found: Finding, lines: Sequence[Span | None]) -> Json:
    """JSON of a hazard or fault; `index` counts the words that were pushed by hand, from 1 on, `line` is that of the
    text.
    """
    at, earlier = _word_span(found.index, lines), _word_span(found.earlier_index, lines)
    return {
        "kind": found.kind,
        "level": found.level,
        "thread": found.thread,
        "cycle": found.cycle,
        "word": found.word,
        "instruction": disassemble(found.word, found.member) if found.word else None,
        "pc": found.pc or None,
        "index": found.index or None,
        "line": None if at is None else at.line,
        "earlier_cycle": found.earlier_cycle if found.earlier else None,
        "earlier_word": found.earlier or None,
        "earlier_pc": found.earlier_pc or None,
        "earlier_index": found.earlier_index or None,
        "earlier_line": None if earlier is None else earlier.line,
        "text": found.text,
        "cure": found.cure,
    }


def _word_span(index: int, spans: Sequence[Span | None]) -> Span | None:
    return spans[index - 1] if 0 < index <= len(spans) else None


def _locate_diagnostics(
    found: Sequence[Diagnostic], outcome: Outcome, lines: Sequence[Span | None]
) -> Iterator[Diagnostic]:
    """Diagnostics at the faulting word's place in the text, with a note where the earlier one stands."""
    at = _word_span(outcome.fault.index, lines) if outcome.fault is not None else None
    earlier = _word_span(outcome.fault.earlier_index, lines) if outcome.fault is not None else None
    for diagnostic in found:
        notes = (
            diagnostic.notes if earlier is None else (*diagnostic.notes, f"the earlier stands in line {earlier.line}")
        )
        yield replace(diagnostic, span=at, notes=notes)


def summary_text(name: str, outcome: Outcome) -> str:
    """Cycles, how the run ended, and its hazards, one per line."""
    count = len(outcome.hazards)
    hazards = f", {count} hazard{'s' if count > 1 else ''}" if count else ""
    lines = [f"{name}: {outcome.cycles} cycles, {outcome.stop}{hazards}"]
    return "\n".join([*lines, *map(str, outcome.hazards if outcome.fault is None else ())])
