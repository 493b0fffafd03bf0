# SPDX-License-Identifier: Apache-2.0
"""`polyloom run`: compilation, instantiation and simulation of a program, and the comparison with its oracles."""

from __future__ import annotations

from polyloom import api, files
from polyloom.cli import arguments as shared
from polyloom.cli import sources, target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.cli.artefacts import check_trace, output_paths, run_artefacts
from polyloom.cli.named_arrays import check_names, read_arrays
from polyloom.cli.progress import progress_bar
from polyloom.frontend import source_file
from polyloom.targets import registry
from polyloom.targets.options import verb_options


def execute(options: Request) -> Answer:
    target, place = registry.split_place(options.on)
    own = target_flags.given_options(options, target, "run")
    inputs, outputs = shared.file_bindings(options.inputs, "--in"), shared.file_bindings(options.outputs, "--out")
    read = [source_file(options.file), *inputs.values(), *target_flags.option_files(target, "run", own)]
    written = [*output_paths(options, outputs), *target_flags.option_outputs(target, "run", own)]
    files.check_outputs(written, read)
    check_trace(options.trace)
    shared.check_seed(options.seed)
    chosen, watch = target.options(**own), target_flags.pass_watch(options, target)
    words = shared.named_values(options.words, "parameter", "N=64")
    with progress_bar(options.quiet) as progress:
        if progress is not None:
            progress("reading", 0.0)
        subject = api.read_subject(options.file, target, place, sources.reading_options(options), chosen, watch)
        check_names(outputs, subject.signature)
        sizes, scalars = sources.parameter_values(words, subject.signature)
        given = {**scalars, **read_arrays(inputs)}
        compiled = api.compile_subject(subject, target, place, chosen, progress)
        # Some options belong to instantiation: `compile` must not see them, or its file would depend on them.
        later = {name: value for name, value in own.items() if name in verb_options(target.options, "instantiate")}
        instance = compiled.prepare_instance(sizes, later, progress)
        result = instance.measure(
            given,
            seed=options.seed,
            fill=options.fill,
            trace=options.trace is not None,
            account=True,
            wanted=tuple(outputs) if subject.signature.is_open else (),
            progress=progress,
        )
    files.write(run_artefacts(options, result, outputs, watch.collect_texts()))
    text = "\n".join(part for part in (target_flags.forms_text(watch), result.report()) if part)
    printed = result.data.get("printed", "")
    return Answer(
        {**result.data, **target_flags.as_data(watch)},
        text,
        (*result.differences, *result.warnings, *subject.warnings),
        str(printed),
    )
