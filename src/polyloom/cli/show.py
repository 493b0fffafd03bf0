# SPDX-License-Identifier: Apache-2.0
"""`polyloom show`: any file as text: a function's nest, dataflow and equations, or the listing of a configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polyloom import api
from polyloom.analysis.loops import loop_forest
from polyloom.cli import sources, target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.frontend import c_nest, checked_nest, is_source, read_function, source_file, ssa
from polyloom.frontend.source import Source
from polyloom.ir.arrays.mlir import print_linalg
from polyloom.ir.nest_c import print_c
from polyloom.ir.nest_mlir import print_mlir
from polyloom.ir.pla import Array
from polyloom.ir.pla_text import print_program
from polyloom.ir.plan import Phase
from polyloom.ir.recurrence_text import print_system
from polyloom.ir.ssa import Function, flow_edges
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.steps import as_data, number_leaves, print_outline
from polyloom.recursion import with_deep_stack
from polyloom.targets import registry
from polyloom.targets.forms import image
from polyloom.targets.subject import Written


def execute(options: Request) -> Answer:
    # `--ssa` asks for the form between front end and targets, whatever `--on` says.
    if options.level is not None:
        return _ssa_answer(ssa(options.file, sources.reading_options(options), sources.ssa_level(options)))
    if options.language is not None:
        return _language_answer(options)
    if options.on is not None and (listed := _compiled_listing(options)) is not None:
        return listed
    if is_source(options.file):
        source = api.load_source(options.file, sources.reading_options(options))
        return with_deep_stack(_source_answer)(source)
    # Files are told apart by their contents, not by their names.
    data = registry.read_program_file(options.file)
    return given_listing(options, data) or _program_listing(options, data)


def _language_answer(options: Request) -> Answer:
    """A function in another language. Raises PL0801 for what is none."""
    file, reading = source_file(options.file), sources.reading_options(options)
    function = read_function(options.file, reading) if file.endswith((".py", ".mlir")) else None
    if function is not None:
        text = None if function.program is None else print_linalg(function.program)
        if text is not None:
            return Answer({"kernel": function.name, options.language: text}, text.rstrip("\n"))
        nest = checked_nest(function)
    elif file.endswith(".c"):
        nest = c_nest(options.file, reading)
    else:
        help = "give a function in Python, C or MLIR"
        message = f"--as {options.language} means nothing for '{options.file}'"
        raise PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))
    text = with_deep_stack(print_mlir)(nest)
    return Answer({"kernel": nest.name, options.language: text}, text.rstrip("\n"))


def _compiled_listing(options: Request) -> Answer | None:
    """Listing of what the named target makes of a source; None where the target does not list such sources."""
    target, place = registry.split_place(options.on)
    written = Written(options.file, sources.reading_options(options))
    form = next((form for form in target.takes if form.accepts(written)), None)
    if form is None or form.name not in target.lists:
        return None
    own = target.options(**target_flags.given_options(options, target, "show"))
    watch = target_flags.pass_watch(options, target)
    subject = api.read_subject(options.file, target, place, sources.reading_options(options), own, watch)
    made = api.compile_subject(subject, target, place, own)
    data = {"kernel": made.kernel, "on": made.on, **target.made(made.data), "listing": made.listing}
    parts = (target_flags.forms_text(watch), made.listing.rstrip("\n"))
    return Answer({**data, **target_flags.as_data(watch)}, "\n".join(filter(None, parts)), subject.warnings)


def given_listing(options: Request, data: bytes) -> Answer | None:
    """Listing of a file that no target wrote, by the target that is named, if it lists such files."""
    given = target_flags.given_file(options, data, "show")
    if given is None or given[0].show_given is None:
        return None
    listing, found = given[0].show_given(given[1])
    return Answer(found, listing.rstrip("\n"))


def _program_listing(options: Request, data: bytes) -> Answer:
    """Listing by the target that wrote the file; of a foreign one by the named target, or the only one that takes
    images.
    """
    name, on = options.file, options.on
    owner = registry.owner_of_file(data)
    if owner is not None:
        target = owner[0]
        api.decode(name, data)
    else:
        takers = registry.form_takers(image.IMAGE.name)
        named = (
            registry.split_place(on)[0]
            if on is not None
            else takers[0]
            if len(takers) == 1 and data.startswith(image.ELF)
            else None
        )
        target = named or registry.require_owner(name, data)[0]
    own = target.options(**target_flags.given_options(options, target, "show"))
    listing = target.show(data, own)
    return Answer(listing if target.as_json is None else target.as_json(data), listing.rstrip("\n"))


def _source_answer(source: Source) -> Answer:
    return Answer(_source_data(source), "\n".join(_source_text(source)))


def _ssa_answer(function: Function) -> Answer:
    """SSA form of a function, and after it a line for each loop of its loop forest, the header first (Havlak 1997 for
    irreducible ones).
    """
    forest = loop_forest(len(function.blocks), flow_edges(function))
    names = [block.name for block in function.blocks]
    found: list[dict[str, object]] = []
    lines: list[str] = []
    for k, loop in enumerate(forest.loops):
        around = names[forest.loops[loop.parent].header] if loop.parent >= 0 else None
        members = [names[loop.header], *(names[node] for node in forest.members(k) if node != loop.header)]
        found.append({"header": members[0], "blocks": members, "inside": around, "irreducible": loop.irreducible})
        lines.append(
            f"# {'irreducible loop' if loop.irreducible else 'loop'} "
            f"{' '.join(members)}{f', inside {around}' if around else ''}"
        )
    text = print_ssa(function)
    return Answer(
        {"function": function.name, "blocks": len(names), "loops": found, "ssa": text},
        "\n".join((text.rstrip("\n"), *lines)),
    )


def _source_text(source: Source) -> Iterator[str]:
    """Text of a source: equations read back as they are; the forms of a function are divided by headings."""
    plan = source.plan
    if source.nest is None and len(plan.phases) == 1:
        yield print_program(plan.phases[0].program).rstrip("\n")
        return
    if source.nest is not None and source.system is not None:
        yield from ("Nest", "", print_c(source.nest), "Dataflow", "", print_system(source.system))
    if plan.loops:
        yield from ("Steps", "", *print_outline(number_leaves(plan.body)), "")
    for number, phase in enumerate(plan.phases, 1):
        yield f"Phase {number} of {len(plan.phases)}" if len(plan.phases) > 1 else "Equations"
        names = [f"{inner} is {outer}" for inner, outer in (*phase.inputs, *phase.outputs) if inner != outer]
        yield from ("", *([f"# {', '.join(names)}"] if names else []), print_program(phase.program))
        yield from (
            ("Added variables", "", *(f"{name}: {reason}" for name, reason in phase.reasons), "")
            if phase.reasons
            else ()
        )


def _source_data(source: Source) -> dict[str, object]:
    plan = source.plan
    phases = [_phase_data(phase) for phase in plan.phases]
    return {
        "kernel": plan.name,
        "parameters": list(plan.parameters),
        "inputs": _array_data(plan.inputs),
        "outputs": _array_data(plan.outputs),
        "intermediates": _array_data(plan.intermediates),
        "nest": None if source.nest is None else print_c(source.nest),
        "dataflow": None if source.system is None else print_system(source.system),
        **({"steps": as_data(number_leaves(plan.body))} if plan.loops else {}),
        "phases": phases,
        **(phases[0] if len(phases) == 1 and not plan.loops else {}),
    }


def _array_data(arrays: Sequence[Array]) -> dict[str, object]:
    return {a.name: {"dtype": a.dtype, "shape": [str(n) for n in a.shape]} for a in arrays}


def _phase_data(phase: Phase) -> dict[str, object]:
    program = phase.program
    return {
        "reads": dict(phase.inputs),
        "writes": dict(phase.outputs),
        "dimensions": list(program.dimensions),
        "equations": [
            {"name": e.name, "target": e.target.name, "operation": e.operation, "dtype": e.dtype}
            for e in program.equations
        ],
        "reasons": dict(phase.reasons),
        "text": print_program(program),
    }
