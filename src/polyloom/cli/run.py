# SPDX-License-Identifier: Apache-2.0
"""`polyloom run`: a program's whole way, and the comparison with its own meaning."""

from __future__ import annotations

from polyloom import api
from polyloom.cli import arguments as shared
from polyloom.cli import files
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.cli.progress import bar
from polyloom.cli.simulate import array_files, check_names, given_arrays
from polyloom.ir.arguments import check_parameters
from polyloom.report import html, trace
from polyloom.targets.registry import split_place


def arguments(parser: Parser) -> None:
    shared.file_operand(parser, "a program (.pla)")
    shared.parameter_operands(parser)
    shared.on_option(parser)
    shared.array_options(parser)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="makes up the inputs that are not given")
    parser.add_argument("--mapping", metavar="FILE", help="a mapping of your own; it is checked like any other")
    parser.add_argument("--candidate", type=int, metavar="N", help="take the stored candidate N instead of the best one")
    parser.add_argument("--trace", metavar="FILE", help="write what every unit did, as .json (Perfetto) or .vcd")
    parser.add_argument("--report", metavar="FILE.html", help="write one self-contained page")


def execute(options: Request) -> Answer:
    outputs = shared.bindings(options.outputs, "--out")
    inputs = shared.bindings(options.inputs, "--in")
    sources = [options.file, *inputs.values(), *([options.mapping] if options.mapping else [])]
    written = [*outputs.values(), *(path for path in (options.trace, options.report) if path)]
    files.check_outputs(written, sources)
    _check_trace(options.trace)
    _check_seed(options.seed)
    _, place = split_place(options.on or "tcpa")
    program = api.read_program(options.file)
    check_names(outputs, [array.name for array in program.outputs])
    parameters = check_parameters(program, shared.parameters(options.words))
    arrays = given_arrays(inputs)
    with bar() as progress:
        compiled = api.compile(program, options.on or "tcpa", mapping=options.mapping, progress=progress)
    instance = compiled.instantiate(parameters, pes=(place.rows, place.columns), candidate=options.candidate)
    result = instance.measure(arrays, seed=options.seed, trace=options.trace is not None)
    files.write(_artefacts(options, result, outputs))
    return Answer(result.data, result.report(), (result.difference,) if result.difference else ())


def _artefacts(options: Request, result: api.Result, outputs: dict[str, str]) -> dict[str, bytes]:
    made = array_files(result.outputs, outputs)
    if options.trace:
        made[options.trace] = (trace.vcd if options.trace.endswith(".vcd") else trace.perfetto)(result.simulation.events)
    if options.report:
        listing = result.instance.target.show(result.instance.data)
        made[options.report] = html.document(result.data, result.view, listing).encode()
    return made


def _check_trace(path: str | None) -> None:
    if path is not None and not path.endswith((".json", ".vcd")):
        raise shared.usage_error(f"the trace file '{path}' ends neither in .json nor in .vcd", "write for instance --trace run.json")


def _check_seed(seed: int) -> None:
    if seed < 0:
        raise shared.usage_error(f"the seed is {seed}", "write a number from 0 on")
