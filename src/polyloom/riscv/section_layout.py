# SPDX-License-Identifier: Apache-2.0
"""Layout of sections: statements at distances from a section's beginning, then sections at addresses.

Code stands first, `.text.init` and its like before all; data begin on a page of their own, so that code can be mapped
read-only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from polyloom.diagnostics import input_error
from polyloom.riscv.assembly.expressions import Lookup, Value
from polyloom.riscv.assembly.text import Text, split_operands
from polyloom.riscv.directives import ALIGNMENTS, alignment
from polyloom.riscv.operands import Statement

SECTIONS: Final = (".text", ".data", ".bss", ".rodata", ".section", ".pushsection", ".popsection", ".previous")
_PAGE: Final = 4096
_LARGEST: Final = 1 << 28
"""Bytes of a section: a few lines of repeated space would fill any memory."""
_CODE: Final = re.compile(r"\.(text|init|fini)(\.|$)")
_FIRST: Final = re.compile(r"\.(text\.)?init(\.|$)")


@dataclass(slots=True)
class Section:
    """Section: its statements as (mnemonic, operands, offset, size, offset of the auipc of the pair), and its size."""

    is_code: bool
    size: int = 0
    alignment: int = 1
    statements: list[tuple[Text, Text, int, int, int]] = field(default_factory=list[tuple[Text, Text, int, int, int]])


@dataclass(slots=True)
class Layout:
    """Sections in the order in which they are first named; `section` is the current one."""

    section: str = ".text"
    sections: dict[str, Section] = field(default_factory=lambda: {".text": Section(True)})
    previous: str = ".text"
    stack: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @property
    def place(self) -> Value:
        """The place of the next statement."""
        return Value(self.sections[self.section].size, self.section)

    def enter_section(self, directive: Text, operands: Text) -> None:
        """Makes another section the current one. Errors: PL0905."""
        name = directive.text
        if name == ".popsection":
            if not self.stack:
                message = "no section was left by .pushsection"
                raise input_error("PL0905", message, span=directive.span, help="write .pushsection NAME before it")
            self.section, self.previous = self.stack.pop()
            return
        if name == ".previous":
            self.section, self.previous = self.previous, self.section
            return
        if name == ".pushsection":
            self.stack.append((self.section, self.previous))
        given = split_operands(operands)
        if name in (".section", ".pushsection"):
            if not given:
                raise input_error("PL0905", "this names no section", span=directive.span, help=f"write {name} .rodata")
            name = given[0].text.strip('"')
        executed = len(given) > 1 and "x" in given[1].text
        self.sections.setdefault(name, Section(bool(_CODE.match(name)) or executed))
        self.section, self.previous = name, self.section

    def require_code(self, mnemonic: Text) -> None:
        """Refusal of instructions among data. Errors: PL0905."""
        if not self.sections[self.section].is_code and not mnemonic.text.startswith("."):
            message = f"an instruction stands in the section {self.section}"
            raise input_error("PL0905", message, span=mnemonic.span, help="write .text before it")

    def align(self, name: str, operands: Text, lookup: Lookup) -> None:
        """Keeps the alignment of the section at least at what a directive asks for."""
        if name in ALIGNMENTS:
            section = self.sections[self.section]
            section.alignment = max(section.alignment, alignment(name, operands, lookup))

    def append(self, mnemonic: Text, operands: Text, size: int, pair: int) -> None:
        """Appends a statement of a number of bytes; a pair counts distances from the offset `pair`."""
        section = self.sections[self.section]
        if section.size + size > _LARGEST:
            message = f"the section {self.section} has more than {_LARGEST >> 20} MiB"
            raise input_error("PL0905", message, span=mnemonic.span, help="make less space")
        section.statements.append((mnemonic, operands, section.size, size, pair))
        section.size += size

    def addresses(self, base: int) -> tuple[dict[str, int], int, int, int]:
        """Addresses of the sections from `base` on, where code ends, where data begin, and where all ends."""
        bases, place = dict[str, int](), base
        code = [n for n, s in self.sections.items() if s.is_code]
        for name in sorted(code, key=lambda n: _FIRST.match(n) is None):
            section = self.sections[name]
            # The first section begins at the base, where programs start that have no `_start`.
            bases[name] = place if place == base else place + -place % max(section.alignment, 4)
            if bases[name] % section.alignment:
                message = f"an alignment of {section.alignment} is asked for at {base:#x}, where the text begins"
                raise input_error("PL0905", message, help="align to less")
            place = bases[name] + section.size
        code_end = place
        data = [n for n, s in self.sections.items() if not s.is_code]
        if data:
            place += -place % _PAGE
        data_at = place
        # Zeros last, as linkers place them: a loader need not read them from the file.
        for name in sorted(data, key=lambda n: n.startswith(".bss")):
            bases[name] = place + -place % max(self.sections[name].alignment, 8)
            place = bases[name] + self.sections[name].size
        return bases, code_end, data_at, place

    def statements(self, bases: Mapping[str, int]) -> list[Statement]:
        """Statements at their addresses."""
        return [
            Statement(mnemonic, operands, bases[name] + offset, size, bases[name] + pair)
            for name, section in self.sections.items()
            for mnemonic, operands, offset, size, pair in section.statements
        ]
