# SPDX-License-Identifier: Apache-2.0
"""Execution of `polyloom llk`: NumPy files in, a low-level kernel on the model of a tile, NumPy files out."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any, Final

from polyloom import files, npy
from polyloom.cli import target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request, file_bindings, usage_error
from polyloom.cli.artefacts import check_trace, encode_trace
from polyloom.report import run_page
from polyloom.run.instance import trace_warning
from polyloom.targets import registry
from polyloom.targets.target import Json, Simulated
from polyloom.targets.tensix.llk.operands import parse_operand
from polyloom.targets.tensix.llk.run import LlkRun, run_llk, thread_sources
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.run.simulate import run_json, split_size, summary_text

_TARGET: Final = "tensix"


def execute(options: Request) -> Answer:
    """Run of a kernel; results and trace are written even where it ends in a fault or a deadlock."""
    target, place = registry.split_place(options.on or _TARGET)
    if target.name != _TARGET:
        raise usage_error(f"the target {target.name} has no low-level kernels", "write --on tensix")
    check_trace(options.trace)
    own: Options = target.options(**target_flags.given_options(options, target, "llk"))
    sources = thread_sources(options.words, dict(own.core))  # pyright: ignore[reportArgumentType]: cores are checked when the option is read
    paths = file_bindings(options.inputs, "--in")
    wanted = {name: split_size(text) for name, text in file_bindings(options.outputs, "--out").items()}
    written = [*(path for path, _ in wanted.values()), *(path for path in (options.trace, options.report) if path)]
    files.check_outputs(written, [*sources.values(), *paths.values()])
    inputs = {parse_operand(name): npy.read(path) for name, path in paths.items()}
    outputs = {parse_operand(name): size for name, (_, size) in wanted.items()}
    # Compilation counts, too: it is what the user waits for.
    start = perf_counter()
    found = run_llk(
        sources, inputs, outputs, member=place.member, includes=tuple(options.includes),
        defines=tuple(options.defines), hazards=own.hazards, ignore_mmio=own.mmio == "ignore",
        max_cycles=own.max_cycles, tracing=bool(options.trace or options.report),
    )  # fmt: skip
    done = _run_result(found, options, str(place), perf_counter() - start)
    made = {path: npy.encode(found.outputs[parse_operand(name).name]) for name, (path, _) in wanted.items()}
    if options.trace:
        made[options.trace] = encode_trace(options.trace, done.trace)
    if options.report:
        made[options.report] = run_page.page(run_page.describe_simulation(options.words, options.on, done)).encode()
    # Written before the answer, so that a fault does not take the trace that shows it.
    files.write(made)
    return Answer(done.data, done.text, (*done.diagnostics, *trace_warning(done.trace)))


def _run_result(found: LlkRun, options: Request, place: str, seconds: float) -> Simulated:
    name = " ".join(dict.fromkeys(Path(path).stem for path in options.words))
    shapes: dict[str, Any] = {n: {"dtype": str(a.dtype), "shape": list(a.shape)} for n, a in found.outputs.items()}
    data: dict[str, Json] = {
        "kernel": name,
        "on": f"{_TARGET}:{place}",
        **run_json(found.tile, found.outcome),
        "run_seconds": seconds,
        "outputs": shapes,
        "operands": found.memory_map(),
    }
    error = found.error()
    return Simulated(data, summary_text(name, found.outcome), {}, found.trace, error.diagnostics if error else ())
