# SPDX-License-Identifier: Apache-2.0
"""`polyloom asm`: assembly text to a program of the target whose notation it is."""

from __future__ import annotations

from polyloom import files
from polyloom.cli import target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.diagnostics import input_error
from polyloom.targets import registry
from polyloom.targets.target import need


def execute(options: Request) -> Answer:
    target, place = registry.split_place(options.on)
    assemble = need(target, "assemble", registry.target_names(lambda t: t.assemble is not None))
    own = target_flags.given_options(options, target, "asm")
    # Before the work: an output that cannot be written, or would overwrite an input, is refused at once.
    files.check_outputs([options.output], [options.file, *target_flags.option_files(target, "asm", own)])
    data: bytes = assemble(_text(options.file), options.file, place, target.options(**own))
    files.write({options.output: data})
    shown = registry.place_text(target, place)
    return Answer({"on": shown, "bytes": len(data)}, f"{options.output}: {len(data)} bytes for {shown}")


def _text(path: str) -> str:
    data = files.read_source(path, "text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"cannot read {path}: byte {error.start}, {data[error.start]:#04x}, is not UTF-8 text"
        raise input_error(
            "PL0104", message, help=f"give assembly text; `polyloom show {path}` prints a program"
        ) from None
