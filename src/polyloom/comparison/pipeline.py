# SPDX-License-Identifier: Apache-2.0
"""Pipeline of a comparison on one page: places, the source's own results, a row for each place (docs/compare.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Any, cast

from polyloom.comparison.reference import Origin, Task, make_task, make_unreferenced_task, read
from polyloom.comparison.result import Comparison
from polyloom.comparison.rows import Judged, Placed, Row, loader, refusal, run
from polyloom.diagnostics import MISMATCH, USAGE, Diagnostic, PolyloomError, nearest
from polyloom.frontend.python.kernel import Kernel
from polyloom.frontend.source import Options, Source
from polyloom.ir.pla import Program
from polyloom.ir.plan import Plan
from polyloom.run.inputs import Fill, Ranges
from polyloom.run.instance import merge_named
from polyloom.run.verdict import Compared
from polyloom.targets import registry
from polyloom.targets.entry import entries
from polyloom.targets.options import Option, verb_options
from polyloom.targets.subject import Progress, Subject


def compare(
    source: Source | Kernel | Plan | Program | str | PathLike[str] | Any,
    values: Mapping[str, Any] | None = None,
    /,
    *,
    on: str | Sequence[str] = (),
    function: str | None = None,
    seed: int = 0,
    fill: Fill | None = None,
    options: Options | None = None,
    own: Mapping[str, Any] | None = None,
    texts: bool = False,
    progress: Progress | None = None,
    **more: Any,
) -> Comparison:
    """Run a source on several places, `"tcpa:4x4,riscv"` or a sequence, and put what it cost side by side. Values of
    parameters, scalars and arrays are given by name; what is not given is made up once, from `seed`. `function` names
    one of a file's, as `FILE:NAME` does. `own` are options of targets, as texts where `texts` says so: each goes to the
    places whose target has it.

    What a target refuses is a row with its diagnostic. Errors: PL0801 for places, those of reading the source where no
    target reads it, and of its values."""
    if not on:
        registry.check_place_keyword(more)
    places = tuple(parse_places(on, own or {}, texts))
    path = fspath(cast("PathLike[str]", source)) if isinstance(source, PathLike) else source
    given, reading = merge_named(values, more, "PL0230", "N=16"), options or Options()
    reading = reading if function is None else replace(reading, function=function)
    origin = _origin(path, reading)
    load = loader(path, reading)
    # All are read before any is run: their signatures decide which shapes arrays may have.
    loaded = [(place, _attempt(lambda place=place: load(place))) for place in places]
    subjects = [found for _, found in loaded if not isinstance(found, PolyloomError)]
    # One set of inputs for all rows: the first target that knows ranges of scalars gives them.
    ranges = next((s.ranges for s in subjects if s.ranges is not None), None)
    if isinstance(origin, PolyloomError):
        shared = _task_of_target(path, origin, subjects, given, seed, fill, ranges)
    else:
        shared = make_task(origin, given, seed, fill, ranges, [s.signature for s in subjects])
    rows: list[Row] = []
    for number, (place, subject) in enumerate(loaded):
        if isinstance(subject, PolyloomError):
            rows.append(refusal(place, subject))
            continue
        part = _part(progress, place.on, number, len(loaded))
        made = _attempt(lambda place=place, s=subject, p=part: run(place, s, shared, reading.reassociate, p))
        rows.append(refusal(place, made) if isinstance(made, PolyloomError) else made)
    return Comparison(shared, tuple(rows) if shared.outputs is not None else tuple(_compare_rows(rows)))


def parse_places(on: str | Sequence[str], own: Mapping[str, Any], texts: bool = False) -> Iterator[Placed]:
    """Places of `--on`, each with its options. Errors: PL0801 for none, for one twice, and for an option that no target
    of them has, or that writes a file; PL0805 and the targets' own.
    """
    written = [text.strip() for part in ([on] if isinstance(on, str) else on) for text in part.split(",")]
    if not any(written):
        raise _usage("no place is given", "name the places behind --on, such as --on tcpa:4x4,riscv,belt")
    if "" in written:
        raise _usage("there is an empty place in --on", "write one comma between places, and none at the end")
    found = [(text, *registry.split_place(text)) for text in written]
    shown = [registry.place_text(target, place) for _, target, place in found]
    for number, text in enumerate(shown):
        if text in shown[:number]:
            raise _usage(f"the place {written[number]} is given twice", "name each place once")
    known = [verb_options(target.options, "run") for _, target, _ in found]
    for name in own:
        if not any(name in each for each in known):
            raise _unknown(name, known)
    for (text, target, place), mine in zip(found, known, strict=True):
        yield Placed(text, target, place, {n: _value(mine[n], value, texts) for n, value in own.items() if n in mine})


def _value(option: Option, value: Any, texts: bool) -> Any:
    """Of a flag without a value, True."""
    made = value if not texts else True if option.metavar is None else option.read(value)
    if option.writes(made):
        raise _usage(
            f"{option.flag} writes a file, and a comparison runs several programs", "write it by `polyloom run`"
        )
    return made


def _unknown(name: str, known: Sequence[Mapping[str, Option]]) -> PolyloomError:
    others = [t for t in registry.load_targets() if name in verb_options(t.options, "run")]
    flag = f"--{name.replace('_', '-')}"
    if others:
        who = " and ".join(t.name for t in others)
        verb = "have" if len(others) > 1 else "has"
        help = f"leave it out, or add a place of {who}, which {verb} it, such as {entries()[others[0].name].example}"
    else:
        help = nearest(name, {option for each in known for option in each}, "option")
    return _usage(f"no target of --on has the option {flag}", help)


def _usage(message: str, help: str) -> PolyloomError:
    return PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))


def _origin(source: Any, options: Options) -> Origin | PolyloomError:
    """The source, or why it cannot be read without a target."""
    return _attempt(lambda: read(source, options))


def _attempt(action: Any) -> Any:
    """What an action gives, or the error that it raises."""
    try:
        return action()
    except PolyloomError as error:
        return error


def _task_of_target(
    path: Any,
    error: PolyloomError,
    subjects: Sequence[Subject],
    given: Mapping[str, Any],
    seed: int,
    fill: Fill | None,
    ranges: Ranges | None,
) -> Task:
    """The task of a source that only targets read. Errors: that of reading, where no target reads it either."""
    if not subjects:
        raise error
    return make_unreferenced_task(str(path), subjects[0].signature, given, seed, fill, ranges)


def _compare_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Cross-check of rows: without a source's outputs, those of the first verified row are what the others have to
    equal.
    """
    # A row whose arithmetic differs by design cannot be what others are measured by.
    first = next((row for row in rows if row.verified and not row.costs.arithmetic), None)
    for row in rows:
        if first is None or row is first or row.judged is None or not row.verified:
            yield row
        else:
            yield replace(row, judged=_cross_check(row, row.judged, first))


def _cross_check(row: Row, judged: Judged, first: Row) -> Judged:
    if row.outputs == first.outputs:
        return replace(judged, comparisons=(*judged.comparisons, Compared(first.on, first.on, "equal bits")))
    if row.costs.arithmetic:
        return replace(judged, why=row.costs.arithmetic)
    message = f"the outputs on {row.on} differ from those on {first.on}"
    wrong = Compared(first.on, first.on, "differs", difference=Diagnostic("PL0812", message, MISMATCH))
    return replace(judged, comparisons=(*judged.comparisons, wrong))


def _part(progress: Progress | None, on: str, number: int, count: int) -> Progress | None:
    if progress is None:
        return None
    return lambda step, fraction: progress(f"{on}: {step}", (number + fraction) / count)
