# SPDX-License-Identifier: Apache-2.0
"""Names of vectors in the source, from the debug records of LLVM's text: `#dbg_value(ptr addrspace(1) %call2.i, !50,`
says that the variable 50 has the value of that name (LLVM's manual, Source Level Debugging).

Variables of our own headers are left out. Where several variables have a value, the first one names it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from polyloom.frontend.c.llvm_data import ssa_name

_RECORD: Final = re.compile(r"#dbg_value\((?:\w+|ptr addrspace\(\d\)) (%[-\w.$]+), !(\d+),")
_VARIABLE: Final = re.compile(r'^!(\d+) = !DILocalVariable\(name: "([^"]*)".*?file: !(\d+)', re.MULTILINE)
_FILE: Final = re.compile(r'^!(\d+) = !DIFile\(filename: "([^"]*)", directory: "([^"]*)"', re.MULTILINE)


def variable_names(module: str, headers: tuple[str, ...]) -> Mapping[str, str]:
    """Names of variables by names of values."""
    hidden = [Path(folder).resolve() for folder in headers]
    shown = {
        number
        for number, name, folder in _FILE.findall(module)
        if not any(Path(folder, name).resolve().is_relative_to(each) for each in hidden)
    }
    known = {number: name for number, name, file in _VARIABLE.findall(module) if file in shown}
    found: dict[str, str] = {}
    for value, number in _RECORD.findall(module):
        if number in known:
            found.setdefault(ssa_name(value), known[number])
    return found
