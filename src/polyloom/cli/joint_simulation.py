# SPDX-License-Identifier: Apache-2.0
"""`polyloom simulate A.plcc B.plcc --at 0,0 --at 0,4`: programs side by side on one machine.

What belongs to one of the files is named with its number, counted from 1: `--in 2:x=x.npy`, `--out 1:y=y.npy`,
`2:alpha=1.5`, `--source 1:fir.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from polyloom import api, files, npy
from polyloom.cli import arguments as shared
from polyloom.cli import target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.cli.artefacts import check_trace, encode_trace, output_paths
from polyloom.cli.named_arrays import check_names, read_arrays
from polyloom.diagnostics import input_error
from polyloom.run.concurrent_runs import combined_trace, concurrent_page, measure_concurrent
from polyloom.run.instance import Instance, Result
from polyloom.targets import registry
from polyloom.targets.forms import image

T = TypeVar("T")
_OF_FILE: Final = re.compile(r"([0-9]{1,4}):(.*)")


def applies(paths: Sequence[str]) -> bool:
    """Whether there are several files, all of a target that runs programs together."""
    images = [image.read_image(path) for path in paths] if len(paths) > 1 else []
    owners = [registry.owner_of_file(i.data) if i.address is None else None for i in images]
    return bool(owners) and all(owner is not None and owner[0].run_together is not None for owner in owners)


def execute(options: Request, paths: Sequence[str], words: Sequence[str]) -> Answer:
    check_trace(options.trace)
    named_in, named_out = shared.file_bindings(options.inputs, "--in"), shared.file_bindings(options.outputs, "--out")
    files.check_outputs(output_paths(options, named_out), [*paths, *named_in.values()])
    sources = _group_by_file(dict.fromkeys(options.sources), "--source", len(paths))
    instances = [_load_instance(path, list(named)) for path, named in zip(paths, sources, strict=True)]
    inputs = _group_by_file(named_in, "--in", len(paths))
    outputs = _group_by_file(named_out, "--out", len(paths))
    values = _group_by_file(shared.named_values(words, "parameter", "1:alpha=2"), "the value", len(paths))
    for instance, own in zip(instances, outputs, strict=True):
        check_names(own, instance.signature)
    given = [{**numbers, **read_arrays(arrays)} for numbers, arrays in zip(values, inputs, strict=True)]
    own = target_flags.given_options(options, instances[0].target, "simulate")
    # A trace costs time and memory: only where something is made of it.
    is_traced = bool(options.trace or options.report)
    results = measure_concurrent(instances, given, _program_options(own, len(paths)), trace=is_traced)
    files.write(
        {
            path: npy.encode(result.outputs[name])
            for result, wanted in zip(results, outputs, strict=True)
            for name, path in wanted.items()
        }
        | ({options.trace: encode_trace(options.trace, combined_trace(results))} if options.trace else {})
        | ({options.report: concurrent_page(results, options.on).encode()} if options.report else {})
    )
    return Answer({"programs": [result.data for result in results]}, "\n".join(map(_result_line, paths, results)))


def _program_options(own: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Options of each program: one position each, everything else for all. Errors: PL0801."""
    at = own.get("at", ())
    if len(at) != count:
        help = f"write one for each file, such as {' '.join(f'--at 0,{4 * n}' for n in range(count))}"
        raise shared.usage_error(f"{count} programs run together, and --at is given {len(at)} times", help)
    return [{**own, "at": position} for position in at]


def _group_by_file(named: Mapping[str, T], option: str, count: int) -> list[dict[str, T]]:
    """Values that are named `NUMBER:NAME`, by file. Errors: PL0801."""
    found: list[dict[str, T]] = [{} for _ in range(count)]
    for name, value in named.items():
        match = _OF_FILE.fullmatch(name)
        if match is None or not 0 < int(match[1]) <= count:
            help = (
                f"write the number of the file before the name, 1 to {count}, for instance 1:{name.rpartition(':')[2]}"
            )
            raise shared.usage_error(f"{option} '{name}' is of none of the {count} files", help)
        found[int(match[1]) - 1][match[2]] = value
    return found


def _load_instance(path: str, sources: Sequence[str]) -> Instance:
    loaded = api.load(path, source=sources)
    if isinstance(loaded, Instance):
        return loaded
    help = "make a concrete one of it with `polyloom instantiate`"
    raise input_error("PL0810", f"'{path}' is a symbolic configuration", help=help)


def _result_line(path: str, result: Result) -> str:
    cycles = "" if result.cycles is None else f"{result.cycles} cycles, "
    return f"{path}: {result.instance.kernel}: {cycles}{result.execution.operations} operations"
