# SPDX-License-Identifier: Apache-2.0
"""`polyloom compare`: one source on several places, each verified or refused, and what it costs side by side."""

from __future__ import annotations

from polyloom import files
from polyloom.cli import arguments as shared
from polyloom.cli import of_target, sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.cli.named_arrays import given_arrays
from polyloom.cli.progress import bar
from polyloom.comparison.run import compare
from polyloom.frontend import file_of


def arguments(parser: Parser) -> None:
    sources.operand(parser)
    shared.parameter_operands(parser, "values of the parameters and of scalar inputs")
    help = "places with commas between them, such as tcpa:4x4,riscv,belt:silver; may be repeated"
    parser.add_argument("--on", dest="places", metavar="PLACES", action="append", default=[], help=help)
    shared.input_options(parser)
    of_target.target_options(parser, "run")
    parser.add_argument("--report", metavar="FILE.html", help="write one self-contained page")


def execute(options: Request) -> Answer:
    inputs = shared.bindings(options.inputs, "--in")
    written = [options.report] if options.report else []
    files.check_outputs(written, [file_of(options.file), *inputs.values()])
    shared.check_seed(options.seed)
    own = of_target.given_texts(options, "run")
    words = shared.pairs(options.words, "parameter", "N=64")
    with bar() as progress:
        made = compare(
            options.file,
            {**words, **given_arrays(inputs)},
            on=options.places,
            seed=options.seed,
            fill=options.fill,
            options=sources.options_of(options),
            own=own,
            texts=True,
            progress=progress,
        )
    files.write({path: made.page().encode("utf-8", "backslashreplace") for path in written})
    return Answer(made.data, made.report(), made.diagnostics)
