# SPDX-License-Identifier: Apache-2.0
"""`polyloom simulate`: a program of any target and NumPy files in, NumPy files out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom import api, files
from polyloom.cli import arguments as shared
from polyloom.cli import joint_simulation, target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.cli.artefacts import check_trace, encode_trace, output_paths, run_artefacts
from polyloom.cli.named_arrays import check_names, read_arrays
from polyloom.cli.progress import progress_bar
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.source import Options as Reading
from polyloom.report import run_page
from polyloom.run.instance import Instance, trace_warning
from polyloom.targets import registry
from polyloom.targets.entry import entries
from polyloom.targets.forms import image
from polyloom.targets.target import Loaded, Simulated, Simulation, Target, need


def execute(options: Request) -> Answer:
    """Simulation of one program, of several together, or of images on a machine that has places."""
    placed = registry.split_place(options.on) if options.on is not None else None
    if placed is not None and placed[0].simulate_given is not None:
        return _simulate_images(options, *placed)
    if not options.words:
        raise shared.usage_error("there is no program", "write a file, such as `polyloom simulate matmul.plcc`")
    paths, words = _split_words(options.words)
    if joint_simulation.applies(paths):
        return joint_simulation.execute(options, paths, words)
    inputs, outputs = shared.file_bindings(options.inputs, "--in"), shared.file_bindings(options.outputs, "--out")
    written = output_paths(options, outputs)
    files.check_outputs(written, [*map(image.image_path, paths), *inputs.values()])
    check_trace(options.trace)
    instance = load_program(paths, options.on, options.sources)
    own = target_flags.given_options(options, instance.target, "simulate")
    check_names(outputs, instance.signature)
    given = {**shared.named_values(words, "parameter", "N=64"), **read_arrays(inputs)}
    with progress_bar(options.quiet) as progress:
        result = instance.measure(
            given, trace=options.trace is not None, account=True, wanted=tuple(outputs), progress=progress, **own
        )
    files.write(run_artefacts(options, result, outputs))
    lines = [f"{name}: {array.dtype}{list(array.shape)}" for name, array in result.outputs.items()]
    cycles = "" if result.cycles is None else f"{result.cycles} cycles, "
    head = f"{instance.kernel}: {cycles}{result.execution.operations} operations"
    return Answer(result.data, "\n".join([head, *lines]), result.warnings)


def _simulate_images(options: Request, target: Target, place: object) -> Answer:
    """Simulation on a machine that has places instead of arguments. Outputs are written even where the run ends in a
    fault.
    """
    check_trace(options.trace)
    _refuse_sources(options.sources, options.words[0] if options.words else target.name)
    own = target_flags.given_options(options, target, "simulate")
    images = [image.read_image(path) for path in options.words]
    inputs, outputs = shared.file_bindings(options.inputs, "--in"), shared.file_bindings(options.outputs, "--out")
    written = tuple(path for path in (options.trace, options.report) if path)
    given = tuple(Loaded(i.path, i.data, i.address) for i in images)
    run = need(target, "simulate_given")
    done: Simulated = run(Simulation(given, inputs, outputs, place, target.options(**own), written, bool(written)))
    made = {options.trace: encode_trace(options.trace, done.trace)} if options.trace else {}
    if options.report:
        made[options.report] = run_page.page(run_page.describe_simulation(options.words, options.on, done)).encode()
    # Written before the answer, so that a fault does not take the trace that shows it.
    files.write({**done.files, **made})
    return Answer(done.data, done.text, (*done.diagnostics, *trace_warning(done.trace)))


def _split_words(words: list[str]) -> tuple[list[str], list[str]]:
    """Words of a command: files first; the words after them are values."""
    count = next((n for n, word in enumerate(words) if n and "=" in word), len(words))
    return words[:count], words[count:]


def load_program(paths: list[str], on: str | None, sources: list[str]) -> Instance:
    """Program to run: a file that a target wrote runs on it; any other one on the target that is named, if it takes
    images. Errors: PL0810.
    """
    placed = registry.split_place(on) if on is not None else None
    images = [image.read_image(path, registry.read_program_file if on is None else files.read) for path in paths]
    first = images[0]
    # An address given with the file says that it is raw, whatever its first bytes look like.
    owner = registry.owner_of_file(first.data) if len(images) == 1 and first.address is None else None
    if owner is None and placed is not None:
        _refuse_sources(sources, first.path)
        return _foreign_program(tuple(images), *placed)
    target, kind = registry.require_owner(first.path, first.data)
    if len(images) > 1:
        raise _images_error(images, target)
    if kind.symbolic:
        help = "make a concrete one of it with `polyloom instantiate`"
        raise input_error("PL0810", f"'{first.path}' is a {kind.title}", help=help)
    if placed is not None and placed[0] is not target:
        help = f"leave --on out, or write --on {entries()[target.name].example}"
        raise input_error(
            "PL0810", f"'{first.path}' is a {kind.title}, which the target {placed[0].name} does not run", help=help
        )
    loaded = api.decode(first.path, first.data, api.texts(sources))
    assert isinstance(loaded, Instance)
    return loaded if placed is None else replace(loaded, place=placed[1])


def _foreign_program(images: tuple[image.Image, ...], target: Target, place: object) -> Instance:
    """Program of other tools, with the arguments that the target knows for it."""
    if target not in registry.form_takers(image.IMAGE.name):
        registry.require_owner(images[0].path, images[0].data)
        raise _images_error(images, target)
    subject = api.read_subject(images, target, place, Reading(), target.options())
    return api.compile_subject(subject, target, place, target.options()).prepare_instance({})


def _refuse_sources(sources: Sequence[str], path: str) -> None:
    """Refuses `--source` where no page can show lines. Errors: PL0801."""
    if sources:
        message = f"'{path}' does not run as a program that Polyloom compiled, which tells its lines"
        raise shared.usage_error(message, "leave --source out")


def _images_error(images: Sequence[image.Image], target: Target) -> PolyloomError:
    message = f"the target {target.name} runs one file of its own at a time"
    return input_error("PL0810", message, help=f"give one of {', '.join(image.path for image in images)}")
