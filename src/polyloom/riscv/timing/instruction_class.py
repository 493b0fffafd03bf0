# SPDX-License-Identifier: Apache-2.0
"""Classes of instructions: those of one class go to one unit of many cores (RISC-V unprivileged manual, chapters of the
extensions I, M, A, F and D).
"""

from __future__ import annotations

import re
from typing import Final

CLASSES: Final = ("integer", "multiply", "divide", "load", "store", "branch", "jump", "float", "atomic", "system")
# The order matters: `f.*` would also match the loads, stores and fences above it.
_KINDS: Final = (
    ("jump", re.compile(r"jalr?")),
    ("branch", re.compile(r"b(eq|ne|ltu?|geu?)")),
    ("atomic", re.compile(r"(lr|sc|amo\w+)\..*|fence(\.tso)?")),
    ("system", re.compile(r"e(call|break)|csr.*|fence\.i")),
    ("load", re.compile(r"l[bhw]u?|ld|fl[wd]")),
    ("store", re.compile(r"s[bhwd]|fs[wd]")),
    ("multiply", re.compile(r"mul\w*")),
    ("divide", re.compile(r"(div|rem)\w*")),
    ("float", re.compile(r"f.*")),
)
"""By mnemonic of what a compressed instruction stands for; whatever is none of them is of integers."""


def instruction_class(mnemonic: str) -> str:
    """The class of an instruction that is not compressed."""
    return next((kind for kind, names in _KINDS if names.fullmatch(mnemonic)), CLASSES[0])
