# SPDX-License-Identifier: Apache-2.0
"""`polyloom compile`: the work that is done once."""

from __future__ import annotations

from collections.abc import Mapping

from polyloom import api, files
from polyloom.cli import arguments as shared
from polyloom.cli import sources, target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.cli.progress import progress_bar
from polyloom.diagnostics import PolyloomError
from polyloom.frontend import source_file
from polyloom.run.inputs import read_values
from polyloom.targets import registry
from polyloom.targets.target import Target


def execute(options: Request) -> Answer:
    target, place = registry.split_place(options.on)
    own = target_flags.given_options(options, target, "compile")
    files.check_outputs(
        [options.output], [source_file(options.file), *target_flags.option_files(target, "compile", own)]
    )
    chosen, watch = target.options(**own), target_flags.pass_watch(options, target)
    words = shared.named_values(getattr(options, "words", ()), "parameter", "N=64")
    # Values would be ignored by a target that compiles for all sizes: refused, as they suggest otherwise.
    if words and not target.per_size:
        raise _values_error(target, words)
    with progress_bar(options.quiet) as progress:
        if progress is not None:
            progress("reading", 0.0)
        subject = api.read_subject(options.file, target, place, sources.reading_options(options), chosen, watch)
        sized = api.compiles_per_size(target, subject)
        if words and not sized:
            raise _values_error(target, words)
        compiled = api.compile_subject(subject, target, place, chosen, progress)
        made = (
            compiled.prepare_instance(read_values(subject.signature, words)[0], None, progress) if sized else compiled
        )
    files.write({options.output: made.data})
    facts = target.made(made.data)
    data = {
        "kernel": compiled.kernel,
        "on": compiled.on,
        **facts,
        "compile_seconds": compiled.seconds,
        **target_flags.as_data(watch),
    }
    shown = f"({', '.join(compiled.parameters)})" if target.instantiate is not None else f" for {compiled.on}"
    line = f"{options.output}: {compiled.kernel}{shown}, {len(made.data)} bytes"
    text = "\n".join(part for part in (target_flags.forms_text(watch), line) if part)
    return Answer(data, text, subject.warnings)


def _values_error(target: Target, words: Mapping[str, str]) -> PolyloomError:
    name = next(iter(words))
    message = f"the target {target.name} compiles for all values at once, and takes no {name}"
    return shared.usage_error(message, "leave the values out")
