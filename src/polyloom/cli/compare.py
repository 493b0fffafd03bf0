# SPDX-License-Identifier: Apache-2.0
"""`polyloom compare`: one source on several places, each verified or refused, and what it costs side by side."""

from __future__ import annotations

from polyloom import files
from polyloom.cli import arguments as shared
from polyloom.cli import of_target, sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.cli.named_arrays import given_arrays
from polyloom.cli.progress import bar
from polyloom.comparison.run import compare
from polyloom.frontend import file_of


def execute(options: Request) -> Answer:
    inputs = shared.bindings(options.inputs, "--in")
    written = [options.report] if options.report else []
    files.check_outputs(written, [file_of(options.file), *inputs.values()])
    shared.check_seed(options.seed)
    own = of_target.given_texts(options, "run")
    words = shared.pairs(options.words, "parameter", "N=64")
    # Places are refused one by one within `compare`: one that cannot take the source does not end the others.
    with bar(options.quiet) as progress:
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
