# SPDX-License-Identifier: Apache-2.0
"""Files that assembly includes: those of folders that the user names, and no others."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from polyloom import files
from polyloom.diagnostics import PolyloomError, Source, input_error
from polyloom.riscv.assembly.macros import Opener
from polyloom.riscv.assembly.text import Text


def refuse_files(name: Text) -> Source:
    """Refusal of every file. Errors: PL0906."""
    raise _error(name, "no folder of included files is named", "give the folder that has it: `--include DIR`")


def folder_files(folders: Sequence[str]) -> Opener:
    """Opener of the files of some folders, the first that has one. A name that leaves its folder is refused."""
    if not folders:
        return refuse_files

    def open_file(name: Text) -> Source:
        path = _file_name(name)
        for folder in map(Path, folders):
            file = folder / path
            if not file.resolve().is_relative_to(folder.resolve()):
                raise _error(name, f"'{path}' is outside of {folder}", "name its own folder by `--include DIR`")
            if file.is_file():
                data = files.read_source(str(file), "text")
                return Source(str(file), data.decode("utf-8", "replace"))
        raise _error(name, f"no folder has '{path}'", "the folders are those of `--include DIR`")

    return open_file


def _file_name(name: Text) -> str:
    try:
        found = ast.literal_eval(name.text)
    except (SyntaxError, ValueError):
        found = None
    if not isinstance(found, str):
        raise _error(name, "this names no file", 'write .include "name.inc"')
    return found


def _error(name: Text, message: str, help: str) -> PolyloomError:
    return input_error("PL0906", message, span=name.span, help=help)
