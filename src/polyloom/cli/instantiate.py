# SPDX-License-Identifier: Apache-2.0
"""`polyloom instantiate`: a symbolic configuration becomes a concrete one."""

from __future__ import annotations

from polyloom import api, files
from polyloom.cli import arguments as shared
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.diagnostics import input_error
from polyloom.report import text
from polyloom.targets import phase_views
from polyloom.targets.registry import REGION, parse_region


def arguments(parser: Parser) -> None:
    shared.file_operand(parser, "a symbolic configuration (.plsc)")
    shared.parameter_operands(parser)
    parser.add_argument("--pes", metavar="RxC", default="x".join(map(str, REGION)), help="rows and columns of processing elements")
    shared.candidate_option(parser)
    parser.add_argument("-o", dest="output", metavar="OUT.plcc", required=True, help="the concrete configuration")


def execute(options: Request) -> Answer:
    files.check_outputs([options.output], [options.file])
    region = parse_region(options.pes)
    parameters, candidate = shared.parameters(options.words), shared.candidate(options.candidate)
    compiled = api.decode(options.file, files.read(options.file))
    if not isinstance(compiled, api.Compiled):
        raise input_error("PL0810", f"'{options.file}' is a concrete configuration already", help="give the symbolic configuration that it was made from")
    instance = compiled.instantiate(parameters, pes=region, candidate=candidate)
    files.write({options.output: instance.data})
    facts, alone = phase_views.facts(instance.target, compiled.data, instance.data)
    data = {"kernel": instance.kernel, "parameters": parameters, **facts, "instantiate_seconds": instance.seconds, "phases": list(alone)}
    pes = f"{facts['processor_classes']} processor classes, predicted {facts['predicted_cycles']} cycles"
    return Answer(data, f"{options.output}: {instance.kernel}, {len(instance.data)} bytes, {text.elements(facts['pes'], list(region))} elements, {pes}")
