# SPDX-License-Identifier: Apache-2.0
"""`polyloom simulate`: a concrete configuration and NumPy files in, NumPy files out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from polyloom import api, files, npy
from polyloom.cli import arguments as shared
from polyloom.cli import sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.diagnostics import input_error, nearest
from polyloom.targets.registry import Arrays, split_place


def arguments(parser: Parser) -> None:
    shared.file_operand(parser, "a concrete configuration (.plcc)")
    shared.parameter_operands(parser, "values of scalar inputs")
    shared.array_options(parser)
    shared.on_option(parser, default=None)


def execute(options: Request) -> Answer:
    inputs, outputs = shared.bindings(options.inputs, "--in"), shared.bindings(options.outputs, "--out")
    files.check_outputs(outputs.values(), [options.file, *inputs.values()])
    instance = api.decode(options.file, files.read(options.file))
    if not isinstance(instance, api.Instance):
        raise input_error("PL0810", f"'{options.file}' is a symbolic configuration", help="make a concrete one of it with `polyloom instantiate`")
    check_names(outputs, (array.name for array in instance.signature.outputs))
    member = split_place(options.on)[1].member if options.on else None
    _, scalars = sources.values(options.words, instance.signature)
    result = instance.measure({**scalars, **given_arrays(inputs)}, on=member)
    files.write(array_files(result.outputs, outputs))
    lines = [f"{name}: {array.dtype}{list(array.shape)}" for name, array in result.outputs.items()]
    return Answer(result.data, "\n".join([f"{instance.kernel}: {result.cycles} cycles, {result.execution.operations} operations", *lines]))


def given_arrays(inputs: dict[str, str]) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays of `--in`."""
    return {name: npy.read(path) for name, path in inputs.items()}


def check_names(outputs: Iterable[str], known: Iterable[str]) -> None:
    """PL0811 for a name of `--out` that is no output."""
    for name in outputs:
        if name not in (names := list(known)):
            raise input_error("PL0811", f"the program has no output '{name}'", help=nearest(name, names, "output"))


def array_files(arrays: Arrays, outputs: dict[str, str]) -> dict[str, bytes]:
    """The files of `--out`."""
    return {path: npy.encode(arrays[name]) for name, path in outputs.items()}
