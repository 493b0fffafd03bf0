# SPDX-License-Identifier: Apache-2.0
"""`polyloom run`: a program's whole way, and the comparison with its equations and its source."""

from __future__ import annotations

from polyloom import api, files, functions
from polyloom.cli import arguments as shared
from polyloom.cli import sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.cli.progress import bar
from polyloom.cli.simulate import array_files, check_names, given_arrays
from polyloom.frontend import file_of
from polyloom.report import trace
from polyloom.targets.registry import FunctionTarget, function_target, split_place


def arguments(parser: Parser) -> None:
    sources.operand(parser)
    shared.parameter_operands(parser, "values of the parameters and of scalar inputs")
    shared.on_option(parser)
    shared.array_options(parser)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="makes up inputs: scalars that are not given, and arrays where none is given")
    parser.add_argument("--fill", choices=("random",), help="make up the arrays that are not given even where others are")
    shared.mapping_option(parser)
    shared.candidate_option(parser)
    sources.level_option(parser, "for riscv: the function in SSA form, from clang's code at -O0 or -O1 (1)")
    parser.add_argument("--max-instructions", metavar="N", help=f"for riscv: give up after so many ({functions.LIMIT})")
    parser.add_argument("--trace", metavar="FILE", help="write what every unit did, as .json (Perfetto) or .vcd")
    parser.add_argument("--report", metavar="FILE.html", help="write one self-contained page")


def execute(options: Request) -> Answer:
    if (chosen := function_target(options.on or "tcpa")) is not None:
        return _function(options, *chosen)
    sources.refuse_level(options)
    if options.max_instructions is not None:
        raise shared.usage_error("--max-instructions is for targets that run functions as they are", "leave it out: every run on an array ends")
    outputs = shared.bindings(options.outputs, "--out")
    inputs = shared.bindings(options.inputs, "--in")
    mapping, candidate = shared.choice(options.mapping, "--mapping"), shared.candidate(options.candidate)
    read = [file_of(options.file), *inputs.values(), *shared.mapping_files(mapping)]
    written = [*outputs.values(), *(path for path in (options.trace, options.report) if path)]
    files.check_outputs(written, read)
    _check_trace(options.trace)
    _check_seed(options.seed)
    _, place = split_place(options.on or "tcpa")
    with bar() as progress:
        if progress is not None:
            progress("reading", 0.0)
        source = api.source_of(options.file, sources.options_of(options))
        check_names(outputs, [array.name for array in source.plan.outputs])
        parameters, scalars = sources.values(options.words, source.plan)
        arrays = {**scalars, **given_arrays(inputs)}
        compiled = api.compile(source, options.on or "tcpa", mapping=mapping, progress=progress)
        instance = compiled.instantiate(parameters, pes=(place.rows, place.columns), candidate=candidate)
        result = instance.measure(arrays, seed=options.seed, fill=options.fill, trace=options.trace is not None, progress=progress)
    files.write(_artefacts(options, result, outputs))
    return Answer(result.data, result.report(), result.differences)


def _function(options: Request, target: FunctionTarget, member: str) -> Answer:
    """A C function, on a target that runs it as it is."""
    for option in ("mapping", "candidate", "trace", "report"):
        if getattr(options, option) not in (None, []):
            raise shared.usage_error(f"--{option} means nothing for the target {target.name}", "leave it out")
    outputs, inputs = shared.bindings(options.outputs, "--out"), shared.bindings(options.inputs, "--in")
    files.check_outputs(outputs.values(), [file_of(options.file), *inputs.values()])
    _check_seed(options.seed)
    scalars = shared.pairs(options.words, "parameter", "n=64")
    limit = functions.LIMIT if options.max_instructions is None else shared.positive(options.max_instructions, "--max-instructions")
    own, arrays, level = sources.options_of(options), given_arrays(inputs), sources.level_of(options)
    with bar() as progress:
        wanted = tuple(outputs)
        result = functions.run(options.file, target, member, own, scalars, arrays, options.seed, wanted, level, limit, progress, options.fill)
    files.write(array_files(result.outputs, outputs))
    return Answer(result.data, functions.page(result), result.differences)


def _artefacts(options: Request, result: api.Result, outputs: dict[str, str]) -> dict[str, bytes]:
    made = array_files(result.outputs, outputs)
    if options.trace:
        made[options.trace] = (trace.vcd if options.trace.endswith(".vcd") else trace.perfetto)(result.execution.events)
    if options.report:
        made[options.report] = result.page().encode()
    return made


def _check_trace(path: str | None) -> None:
    if path is not None and not path.endswith((".json", ".vcd")):
        raise shared.usage_error(f"the trace file '{path}' ends neither in .json nor in .vcd", "write for instance --trace run.json")


def _check_seed(seed: int) -> None:
    if seed < 0:
        raise shared.usage_error(f"the seed is {seed}", "write a number from 0 on")
