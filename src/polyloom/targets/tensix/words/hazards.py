# SPDX-License-Identifier: Apache-2.0
"""Hazard rules: static checks of what the hardware does not interlock, along a straight run of one thread's words.

Instructions are looked at in the order of issue (issued.py); at what is not known, such as the expansion of a MOP whose
configuration the file does not tell, a rule forgets what came before. Each rule is a function over the instructions so
far and the next one. Sources: ISA documentation, page of `SFPMAD`, `SFPSHFT2`, `SFPSTORE`, `Dst`, `WRCFG` and of the
scalar unit; docs/targets/tensix.md lists the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from polyloom.diagnostics import Diagnostic
from polyloom.targets.tensix.words.configuration import word_field_names
from polyloom.targets.tensix.words.isa import Member
from polyloom.targets.tensix.words.issue_order import Issued, segments
from polyloom.targets.tensix.words.program import Item

_WINDOW: Final = 32
"""Instructions that a rule looks back."""
_TEMPLATES: Final = 12
"""The first register whose number means a template of SFPLOADMACRO."""
_STACK: Final = 8
_DISTANCE: Final = 3
"""Instructions between a write of Dst by the matrix unit and SFPLOAD."""
_VECTOR, _MATRIX_DONE, _MEMORY = 1 << 8, 1 << 7, 1
"""A block bit of STALLWAIT, and two of its conditions."""
# A condition of 0 means the first seven (page of `STALLWAIT`).
_DEFAULT_WAIT: Final = 0x7F
# Pages of `ATINCGET` and `LOADIND`: counts of DMANOPs that usually suffice, not a guarantee.
_LOAD_DISTANCE: Final = {"ATINCGET": 24}
_USUAL_DISTANCE: Final = 7
"""Instructions after which the result of a load is there as a rule, without anything that says so."""


Finding = tuple[str, Issued | None, str, str]
"""Kind, the earlier instruction, what happens, what helps."""
Pair = tuple[str, tuple[int, int], tuple[int, int] | None]
"""A kind, and the places and words of both instructions."""
Rule = Callable[[Sequence[Issued], Issued], Finding | None]
"""Of the instructions before one, of which a rule sees the last ones, and that one."""


def hazards(run: Sequence[Item], member: Member, *, is_whole: bool = True) -> list[Diagnostic]:
    """Findings of all rules, each once per pair of words, in the order of addresses. A run that is not the whole
    program (`is_whole`) says nothing of the stack of flags, nor of what is captured on purpose.
    """
    found: dict[Pair, Diagnostic] = {}
    parts = list(segments(run, member))
    # One use of SFPLOADMACRO shows that the program knows of templates, so all captures are taken as meant.
    macros = any(_uses_macros(issued) for part in parts for issued in part)
    for number, segment in enumerate(parts):
        for issued, hazard in _apply_rules(segment, member):
            _record_finding(found, issued, hazard)
        for issued in segment if is_whole and not macros else ():
            _record_finding(found, issued, _captured_template(issued))
        # Only the first segment begins with an empty stack; behind a cut the depth is not known.
        for issued, hazard in _stack_depth(segment) if is_whole and number == 0 else ():
            _record_finding(found, issued, hazard)
    return [found[at] for at in sorted(found, key=lambda pair: pair[1][0])]


def _apply_rules(segment: Sequence[Issued], member: Member) -> Iterator[tuple[Issued, Finding | None]]:
    rules = [rule for rule, members in RULES if member in members]
    for at, issued in enumerate(segment):
        # A slice, because the rules look back by a few instructions while a segment may have millions.
        before = segment[max(0, at - _WINDOW) : at]
        for rule in rules:
            yield issued, rule(before, issued)


def _record_finding(found: dict[Pair, Diagnostic], issued: Issued, hazard: Finding | None) -> None:
    if hazard is not None:
        pair = (hazard[0], _item_key(issued), None if hazard[1] is None else _item_key(hazard[1]))
        # A loop that is replayed meets the same pair again and again; one report suffices.
        found.setdefault(pair, _diagnostic(issued, hazard))


def _item_key(issued: Issued) -> tuple[int, int]:
    return issued.item.address, issued.item.word


def _diagnostic(issued: Issued, hazard: Finding) -> Diagnostic:
    """Diagnostic PL1212 of a finding, at the later instruction, with the earlier one as a note."""
    kind, earlier, what, cure = hazard
    item = issued.item
    at = "" if item.span is not None else f" at {item.address:#x}"
    notes = () if earlier is None else (f"{earlier.found.row.mnemonic} {_location_phrase(earlier.item)}",)
    if item.is_expanded:
        at = f", to which the MOP{at or ' here'} expands,"
    message = f"{kind}: {issued.found.row.mnemonic}{at} {what}"
    return Diagnostic("PL1212", message, span=item.span, notes=notes, help=cure)


def _location_phrase(item: Item) -> str:
    return f"comes of the MOP {_location(item)}" if item.is_expanded else f"stands {_location(item)}"


def _location(item: Item) -> str:
    return f"at {item.address:#x}" if item.span is None else f"in line {item.span.line}"


def _result_hazard(before: Sequence[Issued], this: Issued) -> Finding | None:
    """Read-after-write hazard of latency 2: the next instruction may not read a result of SFPMAD and its like (ISA
    documentation, page of `SFPMAD`).
    """
    if not before or before[-1].found.row.hazard != "mad" or this.found.row.unit != "vector":
        return None
    registers = before[-1].writes & this.reads
    # A destination that L7 names is different per lane; nothing static can be said of it.
    if not registers or _is_indirect(before[-1]):
        return None
    what = f"reads L{min(registers)} a cycle before {before[-1].found.row.mnemonic} has written it"
    return "read-too-early", before[-1], what, "put one SFPNOP or an independent instruction between them"


def _is_indirect(issued: Issued) -> bool:
    """Whether L7 names the destination (Mod1 bit 3; page of `SFPMAD`)."""
    return bool(issued.mode & 8) and issued.name != "SFPLUTFP32"


def _shuffle_hazard(before: Sequence[Issued], this: Issued) -> Finding | None:
    """Structural hazard of shuffles: modes 2 to 4 of SFPSHFT2 occupy the simple and the rounding sub-unit for another
    cycle (ISA documentation, page of `SFPSHFT2`).
    """
    if not before or before[-1].name != "SFPSHFT2" or before[-1].mode not in (2, 3, 4):
        return None
    if this.found.row.unit != "vector" or this.name == "SFPNOP":
        return None
    if (
        this.found.row.hazard not in ("simple", "round", "shuffle-followed", "swap")
        and not before[-1].writes & this.reads
    ):
        return None
    return (
        "shuffle-followed",
        before[-1],
        "follows a shuffle of SFPSHFT2 without a cycle between",
        "put one SFPNOP between them",
    )


def _dst_hazard(before: Sequence[Issued], this: Issued) -> Finding | None:
    """Distance between a write of Dst by the matrix unit and SFPLOAD, which does not wait for it: three instructions,
    or a STALLWAIT (ISA documentation, page of `SFPLOAD` and page of `Dst`).
    """
    if this.name not in ("SFPLOAD", "SFPLOADMACRO"):
        return None
    for steps, earlier in enumerate(reversed(before)):
        if steps >= _DISTANCE or _waits_for_condition(earlier, _VECTOR, _MATRIX_DONE):
            return None
        if earlier.found.row.unit == "matrix" and any(role.what == "dst" for role in earlier.found.row.writes):
            what = f"may read Dst before {earlier.found.row.mnemonic} has written it"
            cure = f"put TTSTALLWAIT {_VECTOR}, {_MATRIX_DONE} or {_DISTANCE} other instructions between them"
            return "dst-too-early", earlier, what, cure
    return None


def _waits_for_condition(issued: Issued, block: int, condition: int) -> bool:
    if issued.name != "STALLWAIT":
        return False
    conditions = issued.found.values["wait_res"] or _DEFAULT_WAIT
    return bool(conditions & condition) and (not block or bool(issued.found.values["stall_res"] & block))


def _captured_template(this: Issued) -> Finding | None:
    """Backdoor load: a destination of 12 or above turns the instruction into a template of SFPLOADMACRO, stores from
    L12 to L15 included (ISA documentation, page of `SFPLOADMACRO`).
    """
    row = this.found.row
    if row.unit != "vector" or row.name in ("SFPCONFIG", "SFPLOADMACRO"):
        return None
    # SFPCONFIG and SFPLOADMACRO use these bits otherwise and were left out above.
    field = row.field("vd")
    if field is None or field not in row.operands or (number := field.of(this.item.word)) < _TEMPLATES:
        return None
    becomes = f"it becomes template {number - _TEMPLATES} of SFPLOADMACRO"
    if row.name == "SFPSTORE":
        cure = "copy the register with SFPMOV, and store the copy"
        return "store-from-constant", None, f"of L{number} stores nothing: {becomes}", cure
    return (
        "captured-template",
        None,
        f"to L{number} is not executed: {becomes}",
        "write L0 to L7; SFPCONFIG sets L11 to L14",
    )


def _uses_macros(issued: Issued) -> bool:
    """Whether captures are meant: SFPLOADMACRO is used, or SFPCONFIG writes templates, sequences or LaneConfig."""
    if issued.name == "SFPLOADMACRO":
        return True
    return issued.name == "SFPCONFIG" and issued.found.values["config_dest"] in (*range(9), 15)


def _stack_depth(segment: Sequence[Issued]) -> Iterator[tuple[Issued, Finding]]:
    """Depth of the stack of lane flags, of eight entries and empty at entry (ISA documentation, page of `SFPPUSHC` and
    page of `SFPPOPC`).
    """
    depth = 0
    for this in segment:
        # Other modes of SFPPOPC and SFPPUSHC combine flags with the top entry and change no depth.
        if this.mode or this.name not in ("SFPPUSHC", "SFPPOPC"):
            continue
        depth += 1 if this.name == "SFPPUSHC" else -1
        if depth > _STACK:
            yield this, ("stack-overflow", None, f"pushes onto {_STACK} entries", "nest conditions less deeply")
        if depth < 0:
            yield this, ("stack-underflow", None, "pops from an empty stack", "push the flags before")
        # One report per overflow: the machine drops the bottom entry and goes on.
        depth = min(max(depth, 0), _STACK)


_USERS: Final = (
    (("ALU_",), ("matrix", "pack", "unpack")),
    (("UNP0_", "UNP1_", "UNPACK"), ("unpack",)),
    (("PCK", "PACK", "STACC", "TILE_ROW", "DEST_TARGET_REG_CFG_PACK"), ("pack",)),
    (("THCON_",), ("unpack", "pack", "mover")),
    (("DEST_",), ("matrix", "vector", "pack")),
)


def _config_hazard(before: Sequence[Issued], this: Issued) -> Finding | None:
    """Configuration hazard: what WRCFG and REG2FLOP write takes effect two cycles later (ISA documentation, page of
    `WRCFG`).
    """
    if not before or before[-1].found.row.hazard != "cfg" or before[-1].name not in ("WRCFG", "REG2FLOP"):
        return None
    if this.found.row.unit not in _config_users(before[-1]) or this.found.row.hazard == "nop":
        return None
    what = f"is issued a cycle before {before[-1].found.row.mnemonic} has changed what it uses"
    return "config-too-early", before[-1], what, "put one TTNOP between them"


def _config_users(writer: Issued) -> tuple[str, ...]:
    """Units that use the written words of the configuration; any unit where the words are not known."""
    # REG2FLOP names its target by a GPR's content, which is not followed here.
    everyone = ("matrix", "pack", "unpack", "vector")
    if writer.name != "WRCFG":
        return everyone
    word = writer.found.values["CfgReg"]
    words = range(word, word + 4 if writer.found.values["wr128b"] else word + 1)
    names = [name for number in words for name in word_field_names(number, False)]
    units = {unit for name in names for starts, used in _USERS if name.startswith(starts) for unit in used}
    # The format that SFPLOAD and SFPSTORE imply is chosen by this field alone.
    if any(name.startswith("ALU_ACC_CTRL_SFPU") for name in names):
        units.add("vector")
    return tuple(units) if names else ()


def _gpr_hazard(before: Sequence[Issued], this: Issued) -> Finding | None:
    """Load-use hazard of the scalar unit: a load releases its register before the value has arrived (ISA documentation,
    page of `LOADIND` and page of `ATINCGET`).
    """
    wanted = _gpr_reads(this)
    if not wanted:
        return None
    for steps, earlier in enumerate(reversed(before)):
        if _waits_for_condition(earlier, 0, _MEMORY):
            return None
        if wanted & _gpr_loads(earlier) and steps < _LOAD_DISTANCE.get(earlier.name, _USUAL_DISTANCE):
            register = min(wanted & _gpr_loads(earlier))
            what = f"reads GPR {register}, which {earlier.found.row.mnemonic} may not have loaded"
            return "gpr-before-load", earlier, what, f"put TTSTALLWAIT with condition {_MEMORY} between them"
    return None


def _gpr_loads(issued: Issued) -> frozenset[int]:
    """GPRs that a load fills."""
    values = issued.found.values
    if issued.name == "LOADIND":
        first = values["DataRegIndex"]
        # A load of 16 bytes fills an aligned group of four GPRs.
        return frozenset(range(first & ~3, (first & ~3) + 4)) if values["SizeSel"] == 0 else frozenset({first})
    # Atomics return the old value of the word in L1 into a GPR, so they count as loads.
    if issued.name in ("ATINCGET", "ATINCGETPTR"):
        return frozenset({values["DataRegIndex"]})
    return frozenset({values["TdmaDataRegIndex"]}) if issued.name == "LOADREG" else frozenset()


def _gpr_reads(issued: Issued) -> frozenset[int]:
    """GPRs that an instruction reads as whole words; not those that hold addresses in pairs of half registers."""
    values, name = issued.found.values, issued.name
    # SETDMAREG writes a half register and reads none.
    if name.endswith("DMAREG") and name != "SETDMAREG":
        constant = values["OpBisConst"]
        return frozenset({values["OpARegIndex"]} if constant else {values["OpARegIndex"], values["OpBRegIndex"]})
    if name == "WRCFG":
        first = values["GprAddress"]
        return frozenset(range(first, first + 4)) if values["wr128b"] else frozenset({first})
    if name == "REG2FLOP":
        return frozenset({values["RegIndex"]})
    if name == "STOREREG":
        return frozenset({values["TdmaDataRegIndex"]})
    if name in ("STOREIND", "ATSWAP"):
        return frozenset({values["DataRegIndex"], values["AddrRegIndex"]})
    return frozenset({values["AddrRegIndex"]}) if name in ("LOADIND", "ATINCGET", "ATCAS") else frozenset()


RULES: Final[tuple[tuple[Rule, tuple[Member, ...]], ...]] = (
    (_result_hazard, ("wormhole",)),
    (_shuffle_hazard, ("wormhole",)),
    (_dst_hazard, ("wormhole", "blackhole")),
    (_config_hazard, ("wormhole",)),
    (_gpr_hazard, ("wormhole", "blackhole")),
)
"""Blackhole waits where SFPMAD and SFPSHFT2 are concerned."""
