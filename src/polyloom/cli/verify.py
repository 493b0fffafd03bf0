# SPDX-License-Identifier: Apache-2.0
"""`polyloom verify`: static checks of a program or of a configuration; with `--against`, translation validation:
whether a configuration computes what a source does, for all data (Pnueli et al. 1998). A Python file is executed to
find its kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polyloom import api
from polyloom.cli import arguments as shared
from polyloom.cli import sources, target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request, usage_error
from polyloom.cli.entry import diagnostic_object
from polyloom.diagnostics import Diagnostic
from polyloom.frontend import is_source
from polyloom.recursion import with_deep_stack
from polyloom.targets import registry
from polyloom.targets.target import Target, need


def execute(options: Request) -> Answer:
    """Verification of one file. A program that does not hold raises; its faults are located."""
    if options.words and options.source is None:
        what = f"polyloom verify takes no operand '{options.words[0]}'"
        raise usage_error(what, f"leave out {' '.join(options.words)}")
    placed = registry.split_place(options.on) if options.on is not None else None
    if is_source(options.file):
        if options.source is not None:
            raise usage_error(f"'{options.file}' is a source itself", "give a configuration (.plsc, .plcc) first")
        # Reading a source checks it: what it raises are its faults.
        api.load_source(options.file, sources.reading_options(options))
        found: Sequence[Diagnostic] = ()
    else:
        data = registry.read_program_file(options.file)
        found = _with_file(options.file, _faults(options, data, placed))
        if options.source is not None and not found:
            return _prove_equivalence(options, data, placed)
    shown: dict[str, object] = {
        "file": options.file,
        "valid": not found,
        "diagnostics": [diagnostic_object(d) for d in found],
    }
    return Answer(shown, "" if found else f"{options.file}: valid", tuple(found))


def _prove_equivalence(options: Request, data: bytes, placed: tuple[Target, registry.Place] | None) -> Answer:
    """Equivalence of a configuration and a source: the file is valid, and equals the source, or there are differences
    (exit 4).
    """
    target = registry.require_owner(options.file, data)[0]
    prove = need(target, "against", registry.target_names(lambda t: t.against is not None))
    source = api.load_source(options.source, sources.reading_options(options))
    # Errors in options come before the proof, which may take minutes.
    chosen = target.options(**target_flags.given_options(options, target, "verify"))
    place = placed[1] if placed is not None and placed[0] is target else None
    proof = with_deep_stack(prove)(data, place, chosen, source, shared.parameter_values(options.words))
    found = _with_file(options.file, proof.diagnostics)
    shown: dict[str, object] = {
        "file": options.file,
        "valid": True,
        "source": options.source,
        "parameters": dict(proof.values),
        "equal": not found,
        "elements": proof.elements,
        "terms": proof.terms,
        "notes": list(proof.notes),
        "diagnostics": [diagnostic_object(d) for d in found],
    }
    head = f"{options.file}: valid, and computes what {options.source} does for all data{_values_text(proof.values)}"
    count = f"{proof.elements} elements of outputs, {proof.terms} terms"
    lines = [*(f"note: {note}" for note in proof.notes), *([] if found else [f"{head}: {count}"])]
    return Answer(shown, "\n".join(lines), tuple(found))


def _values_text(values: Mapping[str, int]) -> str:
    return f" at {' '.join(f'{name}={value}' for name, value in values.items())}" if values else ""


def _faults(
    options: Request, data: bytes, placed: tuple[registry.Target, registry.Place] | None
) -> Sequence[Diagnostic]:
    """Faults of a file, found by the target that wrote it; of a foreign file, by the target that `--on` names."""
    # A foreign file says nothing of its machine: `--on` must.
    given = target_flags.given_file(options, data, "verify")
    if given is not None and given[0].verify_given is not None:
        return given[0].verify_given(given[1])
    target = given[0] if given is not None else registry.require_owner(options.file, data)[0]
    target_flags.given_options(options, target, "verify")
    place = placed[1] if placed is not None and placed[0] is target else None
    return need(target, "verify", registry.target_names(lambda t: t.verify is not None))(data, place)


def _with_file(name: str, found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """Diagnostics, each of which names the file."""
    return [d if d.span is not None or name in d.message else replace(d, message=f"{name}: {d.message}") for d in found]
