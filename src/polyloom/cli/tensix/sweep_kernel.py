# SPDX-License-Identifier: Apache-2.0
"""Accuracy sweep: every value of a format through a vector kernel, and the distance of each result from a reference or
from another kernel, in units in the last place (exhaustive testing of elementary functions, Muller 2016).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom import api, files, npy
from polyloom.cli import arguments as shared
from polyloom.cli import sources, target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request, usage_error
from polyloom.cli.tensix.sweep_page import error_range, sweep_report
from polyloom.diagnostics import MISMATCH, Diagnostic, PolyloomError, input_error
from polyloom.frontend.source import Options
from polyloom.run import inputs as made
from polyloom.targets import registry
from polyloom.targets.target import Target
from polyloom.targets.tensix import kernel
from polyloom.targets.tensix.kernel_form import kernel_content, kernel_reference
from polyloom.targets.tensix.options import FORMATS, Format
from polyloom.targets.tensix.run import sweep, ulp
from polyloom.targets.tensix.run.sweep import Swept
from polyloom.targets.tensix.run.ulp import Bits
from polyloom.targets.tensix.source.note import Note

_TARGET: Final = "tensix"


class Sweeping(Request):
    """The options of `sweep`."""

    reference: str | None
    against: list[str]
    form: str
    stride: str | None
    domain: str | None


def execute(options: Sweeping) -> Answer:
    """Sweep of a kernel, compared with a reference or with another kernel."""
    target, place = registry.split_place(options.on or _TARGET)
    if target.name != _TARGET:
        raise usage_error(f"the target {target.name} has no vector kernels", "write --on tensix")
    form: Format = next(known for known in FORMATS if known == options.form)
    stride = None if options.stride is None else shared.positive_integer(options.stride, "--stride")
    domain = _parse_domain(options.domain)
    # Exactly one of both: distances to two references would be two tables.
    if (options.reference is None) == (not options.against):
        number = "is nothing" if options.reference is None else "are two things"
        raise usage_error(
            f"there {number} to compare with", "write --reference tanh, or --against other.h, one of them"
        )
    outputs = shared.file_bindings(options.outputs, "--out")
    if wrong := [name for name in outputs if name not in ("x", "y", "expected")]:
        raise usage_error(f"a sweep has no output '{wrong[0]}'", "write --out y=y.npy; there are x, y and expected")
    written = [*outputs.values(), *([options.report] if options.report else [])]
    files.check_outputs(written, [options.file, *options.against])
    own = target.options(**target_flags.given_options(options, target, "sweep"))
    # An unknown reference is found before minutes of simulation.
    evaluate = None if options.reference is None else sweep.load_reference(options.reference)
    values = sweep.sweep_values(form, stride, domain)
    words = shared.named_values(options.words, "parameter", "param0=0x3f800000")
    reading = sources.reading_options(options)
    found = _sweep_file(options.file, target, place, reading, own, form, values, words)
    if evaluate is not None:
        expected = sweep.expected_results(found, evaluate)
    else:
        expected = _sweep_file(options.against[0], target, place, reading, own, form, values, words).results
    distances, data = sweep.judge_results(found, expected)
    arrays = {"x": found.values, "y": found.results, "expected": expected}
    results = {path: npy.encode(_as_numbers(arrays[name], form)) for name, path in outputs.items()}
    # The function's name says more than the file's, where it is given.
    title = f"{options.function or options.file} against {options.reference or options.against[0]}, {form}"
    if options.report:
        results[options.report] = sweep_report(title, found, distances, data).encode("utf-8", "backslashreplace")
    files.write(results)
    return Answer(
        {"verified": True, "kernel": options.function, "format": form, **data},
        _report_text(title, found, expected, data, distances),
    )


def _sweep_file(
    path: str,
    target: Target,
    place: Any,
    reading: Options,
    own: Any,
    form: Format,
    values: Bits,
    words: Mapping[str, str],
) -> Swept:
    """Results of the kernel in a file, on the model of the tile; they must be those of the interpreter of SSA form.
    Errors: PL1291, PL0812.
    """
    subject = api.read_subject(path, target, place, reading, own)
    scalars = made.read_scalars(subject.signature, dict(words))
    missing = [a.name for a in subject.signature.inputs if a.name not in scalars]
    if missing:
        message = f"the argument `{missing[0]}` of {subject.signature.name} has no value"
        raise input_error("PL1291", message, help=f"write {missing[0]}=0x3f800000, or in decimal")
    data = api.compile_subject(subject, target, place, own).prepare_instance({}).data
    note: Note = kernel.read_note(data)
    found = sweep.sweep(data, note, form, values, scalars)
    # Two independent ways compute each value; a difference is a fault of the compiler or of the model.
    tile = sweep.find_difference(found, kernel_reference(kernel_content(subject), place.member, own), scalars)
    if tile is not None:
        first = f"value {tile * sweep.TILE} and the {sweep.TILE} from there on"
        message = f"{path}: what the tile makes of {first} differs from the interpreter of SSA form"
        raise PolyloomError(Diagnostic("PL0812", message, MISMATCH))
    return found


def _parse_domain(text: str | None) -> tuple[float, float] | None:
    """Bounds of the swept values. Errors: PL0801."""
    if text is None:
        return None
    low, colon, high = text.partition(":")
    try:
        found = float(low), float(high)
    except ValueError:
        found = None
    if found is None or not colon or not found[0] <= found[1]:
        raise usage_error(f"--domain is '{text}'", "write LOW:HIGH, such as --domain=-4:4")
    return found


def _as_numbers(bits: Bits, form: Format) -> NDArray[Any]:
    """Bits as floats that hold the format exactly, or as integers."""
    if form == ulp.INTEGERS:
        return bits
    if form == "fp16":
        return bits.astype(np.uint16).view(np.float16)
    return ulp.to_doubles(bits, form).astype(np.float32)


def _report_text(title: str, found: Swept, expected: Bits, data: Mapping[str, Any], distances: ulp.Distances) -> str:
    lines = [title, ""]
    lines.append(f"  values            {data['values']}")
    if data["max_ulp"] is not None:
        lines.append(
            f"  largest error     {data['max_ulp']} ulp, at {data['at']}: {data['got']}, not {data['expected']}"
        )
    for entry in data["histogram"]:
        lines.append(f"    {error_range(entry):<15} {entry['count']}")
    lines.append(f"  not finite        {data['nonfinite_mismatches']} on one side only")
    for at, got, wanted in sweep.mismatches(found, expected, distances):
        lines.append(f"    at {at}: {got}, not {wanted}")
    lines.append(f"  instructions      {data['instructions']} per tile")
    lines.append(f"  cycles per vector {data['cycles_per_vector']:.4g}")
    return "\n".join(lines)
