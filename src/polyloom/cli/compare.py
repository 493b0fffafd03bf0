# SPDX-License-Identifier: Apache-2.0
"""`polyloom compare`: one source on several places, each verified or refused, and what it costs side by side."""

from __future__ import annotations

from polyloom import files
from polyloom.cli import arguments as shared
from polyloom.cli import sources, target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.cli.named_arrays import read_arrays
from polyloom.cli.progress import progress_bar
from polyloom.comparison.pipeline import compare
from polyloom.frontend import source_file


def execute(options: Request) -> Answer:
    inputs = shared.file_bindings(options.inputs, "--in")
    written = [options.report] if options.report else []
    files.check_outputs(written, [source_file(options.file), *inputs.values()])
    shared.check_seed(options.seed)
    own = target_flags.given_texts(options, "run")
    words = shared.named_values(options.words, "parameter", "N=64")
    # Places are refused one by one within `compare`: one that cannot take the source does not end the others.
    with progress_bar(options.quiet) as progress:
        made = compare(
            options.file,
            {**words, **read_arrays(inputs)},
            on=options.places,
            seed=options.seed,
            fill=options.fill,
            options=sources.reading_options(options),
            own=own,
            texts=True,
            progress=progress,
        )
    files.write({path: made.page().encode("utf-8", "backslashreplace") for path in written})
    return Answer(made.data, made.report(), made.diagnostics)
