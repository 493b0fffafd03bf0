# SPDX-License-Identifier: Apache-2.0
"""Verb `simulate --on minion:N` for a file that `compile` wrote: its note says where arrays lie and for how many
minions it is, so that `--in` and `--out` name its arrays, with their own shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import numpy as np

from polyloom import files, npy
from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.ir.signature import Signature
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place
from polyloom.targets.minion.run import execute as running
from polyloom.targets.minion.run import places
from polyloom.targets.minion.words import note as notes
from polyloom.targets.target import Job, Json, Simulated, Simulation

Array = np.ndarray[Any, np.dtype[Any]]


def compiled_note(asked: Simulation) -> notes.Note | None:
    """Note of the one file that is given; None where it is no compiled program, or other bytes are placed beside it."""
    options = cast(Options, asked.options)
    # Bytes beside the program may replace its own, so that the note would no longer hold.
    alone = len(asked.files) == 1 and asked.files[0].address is None and not options.raw and options.entry is None
    return notes.decode(asked.files[0].data) if alone else None


def simulate(asked: Simulation, note: notes.Note) -> Simulated:
    """Simulation of a compiled program. Errors: PL1302 for another machine or count, PL1307 and PL1308 for arrays, and
    those of runs.
    """
    options, place, file = cast(Options, asked.options), cast(Place, asked.place), asked.files[0]
    _check_place(note, place, file.path)
    paths = {name: places.output_path(text) for name, text in asked.outputs.items()}
    # Before the run, which may take minutes.
    files.check_outputs([*asked.written, *paths.values()], [file.path, *asked.inputs.values()])
    _check_outputs(note.signature, asked.outputs)
    inputs = _inputs(note.signature, asked.inputs)
    start = perf_counter()
    done = running.run(
        file.data, note, Job(inputs, place, replace(options, hazards=options.hazards or "report"), trace=asked.trace)
    )
    seconds = perf_counter() - start
    shapes: dict[str, Json] = {
        name: {"dtype": str(done.outputs[name].dtype), "shape": list(done.outputs[name].shape)} for name in paths
    }
    data: dict[str, Json] = {
        "verified": None,
        "kernel": Path(file.path).stem,
        "on": f"minion:{place}",
        "cycles": done.cycles,
        "operations": done.operations,
        "run_seconds": seconds,
        "outputs": shapes,
        **done.facts,
    }
    written = {path: npy.encode(done.outputs[name]) for name, path in paths.items()}
    time = "" if done.cycles is None else f"{done.cycles} cycles, "
    text = f"{data['kernel']} on {data['on']}: passed, {time}{done.operations} instructions"
    text += f"\n{done.trace.notice}" if done.trace.notice else ""
    return Simulated(data, text, written, done.trace)


def _check_place(note: notes.Note, place: Place, path: str) -> None:
    """Errors: PL1302 where the program was compiled for another machine, whose addresses and shares of work it has."""
    if (note.machine, note.minions) != (place.machine, place.minions):
        own, other = (
            f"{n} minions of {m.name}" for n, m in ((note.minions, note.machine), (place.minions, place.machine))
        )
        message = f"'{path}' is for {own}, not {other}"
        raise input_error("PL1302", message, help="leave --on out, or compile the kernel for this machine")


def _check_outputs(signature: Signature, outputs: Mapping[str, str]) -> None:
    """Errors: PL1307 for a name that is no output, or a shape that the program has itself."""
    known = [a.name for a in signature.outputs]
    for name, text in outputs.items():
        if name not in known:
            raise input_error("PL1307", f"the program has no output '{name}'", help=nearest(name, known, "output"))
        # A shape behind the name could contradict that of the signature.
        if not text.endswith(".npy"):
            message = f"the output `{name}` has a shape and a type of its own"
            raise input_error("PL1307", message, help=f"write --out {name}={Path(places.output_path(text)).stem}.npy")


def _inputs(signature: Signature, given: Mapping[str, str]) -> dict[str, Array]:
    """Inputs of the program from their files. Errors: PL1307, PL1308."""
    known = [a.name for a in signature.inputs]
    for name in given:
        if name not in known:
            raise input_error("PL1307", f"the program has no input '{name}'", help=nearest(name, known, "input"))
    missing = [name for name in known if name not in given]
    if missing:
        help = f"write --in {missing[0]}={missing[0]}.npy"
        raise input_error("PL1307", f"the program reads {', '.join(missing)}, which is not given", help=help)
    return {a.name: _check_array(a.name, npy.read(given[a.name]), a.extents({}), a.dtype) for a in signature.inputs}


def _check_array(name: str, array: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Array of the declared type and shape. Errors: PL1308."""
    wanted = np.dtype(dtype)
    if array.dtype != wanted:
        raise _unlike(
            f"the input `{name}` has the type {array.dtype}, not {wanted}",
            f"convert it: `.astype(numpy.{wanted.name})`",
        )
    if array.shape != shape:
        raise _unlike(f"the input `{name}` has the shape {array.shape}, not {shape}", "give an array of that shape")
    return array


def _unlike(message: str, help: str) -> PolyloomError:
    return input_error("PL1308", message, help=help)
