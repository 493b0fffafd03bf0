# SPDX-License-Identifier: Apache-2.0
"""Verb `simulate --on minion:N`: a bare-metal program runs unchanged on N minions (docs/targets/minion.md).

All harts start in M-mode at the entry; `validation0` ends a hart, `validation1` prints. `--in` puts arrays at symbols
or addresses before that, `--out` takes them afterwards, also where the run ends in a fault.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import cast

from polyloom import files
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place
from polyloom.targets.minion.run import findings, model, peer, places, report, simulate_compiled
from polyloom.targets.minion.run.events import trace
from polyloom.targets.minion.run.model import Outcome, Setup
from polyloom.targets.minion.run.peer import Peer
from polyloom.targets.minion.words.locate import Locator
from polyloom.targets.minion.words.program import Program, load
from polyloom.targets.target import Json, Loaded, Simulated, Simulation
from polyloom.targets.trace import Trace


def simulate(asked: Simulation) -> Simulated:
    """Simulation of a program. Errors: PL1303 to PL1308, PL1313; what a run meets is in the result."""
    options, place = cast(Options, asked.options), cast(Place, asked.place)
    note = simulate_compiled.compiled_note(asked)
    if note is not None:
        return simulate_compiled.simulate(asked, note)
    program = _load_program(asked, options, place)
    inputs = [places.read_input(name, path, program.symbols, place.machine) for name, path in asked.inputs.items()]
    wanted = [places.parse_output(name, text, program.symbols, place.machine) for name, text in asked.outputs.items()]
    setup = build_setup(options, place, asked.trace)
    start = perf_counter()
    done = model.run(program, inputs, setup)
    seconds = perf_counter() - start
    # Outputs are read whatever the end was: after a fault they are what helps to find it.
    found = {each: done.read(each.address, each.size) for each in wanted}
    compared = None if options.peer is None else peer.compare(options.peer, program, inputs, place, seconds)
    shapes: dict[str, Json] = {each.name: places.describe_output(each) for each in wanted}
    measured: dict[str, Json] = {"run_seconds": seconds, "outputs": shapes}
    if compared is not None:
        measured["peer"] = compared.as_json()
    written = {each.path: places.encode_output(each, d) for each, d in found.items()}
    spans = trace(done.outcome, program.locator) if asked.trace else Trace()
    text = _text(asked, done.outcome, program.locator, compared)
    text += f"\n{spans.notice}" if spans.notice else ""
    wrong = _wrong(done.outcome, program, setup)
    return Simulated(_data(asked, program, done.outcome) | measured, text, written, spans, wrong)


def _load_program(asked: Simulation, options: Options, place: Place) -> Program:
    """Program to load, after a look at every file that is named. Errors: PL0801, and those of loading."""
    if not asked.files and not options.raw:
        help = "write a file, such as `polyloom simulate k.elf --on minion:32`, or --raw ADDRESS=FILE"
        raise PolyloomError(Diagnostic("PL0801", "there is no program", USAGE, help=help))
    if options.peer is not None:
        peer.check(options.peer)
    # A file that is written must not be one that is read; that is checked before the run, which may take long.
    sources = [*(f.path for f in asked.files), *(path for _, path in options.raw), *asked.inputs.values()]
    files.check_outputs([*asked.written, *map(places.output_path, asked.outputs.values())], sources)
    raw = [Loaded(path, files.read(path), address) for address, path in options.raw]
    return load(asked.files, raw, options.entry, place.machine)


def build_setup(options: Options, place: Place, trace: bool) -> Setup:
    """Set-up of `simulate`: hazards are reported unless something else is asked for."""
    hazards = options.hazards or "report"
    return Setup(place, hazards, options.functional, options.threads, options.max_cycles, options.errata, trace)


def _wrong(outcome: Outcome, program: Program, setup: Setup) -> tuple[Diagnostic, ...]:
    ended = report.end_diagnostic(outcome, program.locator, setup)
    wrong = findings.end_error(outcome, program.locator) if ended is None else ended
    return () if wrong is None else (wrong,)


def _data(asked: Simulation, program: Program, outcome: Outcome) -> dict[str, Json]:
    """JSON of a simulation (docs/targets/minion.md)."""
    place = cast(Place, asked.place)
    return {
        "verified": None,
        "kernel": _kernel(asked),
        "on": f"minion:{place}",
        "minions": place.minions,
        "cycles": outcome.cycles,
        "operations": outcome.instructions,
        "instructions": outcome.instructions,
        "run_seconds": None,
        "outputs": {},
        "stop": outcome.stop,
        "printed": outcome.printed.decode("utf-8", "replace"),
        "trap": _trap(outcome, program.locator),
        **findings.as_json(outcome, program.locator),
        "counters": model.sorted_counters(outcome),
        "extrapolated": list(outcome.extrapolated),
    }


def _trap(outcome: Outcome, locator: Locator) -> Json:
    """JSON of a trap, null without one."""
    if outcome.trap is None:
        return None
    trap, where = outcome.trap, locator.at(outcome.trap.pc)
    return {
        "hart": trap.hart,
        "pc": trap.pc,
        "symbol": where.symbol or None,
        "file": where.file,
        "line": where.line or None,
        "cause": trap.cause,
        "value": trap.value,
        "text": report.cause_name(trap.cause),
    }


def _kernel(asked: Simulation) -> str:
    options = cast(Options, asked.options)
    paths = [*(f.path for f in asked.files), *(path for _, path in options.raw)]
    return Path(paths[0]).stem


def _text(asked: Simulation, outcome: Outcome, locator: Locator, compared: Peer | None) -> str:
    """Text of a simulation: its end, findings, and what the program printed."""
    time = "" if outcome.cycles is None else f"{outcome.cycles} cycles, "
    harts = f"minion:{asked.place}"
    lines = [f"{_kernel(asked)} on {harts}: {outcome.stop}, {time}{outcome.instructions} instructions"]
    lines += findings.lines(outcome, locator)
    if compared is not None:
        lines.append(f"the emulator took {compared.seconds:.3g} s, {compared.ratio:.3g} times as long")
    printed = outcome.printed.decode("utf-8", "replace")
    return "\n".join([*lines, *(["printed:", printed.rstrip("\n")] if printed else [])])
