# SPDX-License-Identifier: Apache-2.0
"""Hazard report: both instructions with hart, pc, symbol and source line, what they share, and what is missing.

The kinds are those of native/minion/findings.hpp. Source of the waits: the programmer's reference manual, "TensorWait".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from polyloom.diagnostics import INPUT, Diagnostic
from polyloom.targets.minion.words.locate import Locator
from polyloom.targets.target import Json

if TYPE_CHECKING:
    from polyloom._native.minion import Finding, Site

# By kind: what the later instruction does, `what` being the line, register or address, and how the earlier one stands
# to it.
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "scp_read": ("reads {what}", "which {earlier} may still write"),
    "scp_write": ("writes {what}", "which {earlier} may still read or write"),
    "port": ("uses the {what}", "which {earlier} may still use"),
    "register_access": ("accesses {what}", "which {earlier} may still read or write"),
    "flags": ("reads {what}", "to which {earlier} may still add flags"),
    "error": ("reads {what}", "in which {earlier} may still set a bit"),
    "memory_read": ("reads {what}", "which {earlier} may still write"),
    "memory_write": ("writes {what}", "which {earlier} may still read or write"),
    "cache_operation": ("accesses {what}", "on which {earlier} may still work"),
    "stale_read": ("reads {what}", "whose newest value is not visible to it: it is from {earlier}"),
    "shared_line": ("writes the line at {what}", "which is dirty in another L1, from {earlier}"),
    "undrained_store": ("reads {what}", "which waits in a shire's write buffer since {earlier}"),
    "two_peers": ("takes {what}", "which {earlier} has taken"),
    "count_mismatch": ("does not agree on {what}", "with {earlier}"),
    "barrier_mismatch": ("does not agree on {what}", "with {earlier}"),
    "credit_overflow": ("overflows {what}", "after {earlier}"),
    "lost_credit": ("gives a credit that is lost: {what}", "after {earlier}"),
    "barrier_left": ("joins {what}", "after {earlier}"),
    "unfinished": ("is not done when the run ends: {what}", "after {earlier}"),
    "undefined": ("has a word whose result is undefined: {what}", "after {earlier}"),
    "tensor_error": ("sets {what}", "after {earlier}"),
    "ignored_bits": ("ignores {what}", "after {earlier}"),
    "erratum_1.29": ("reads {what}", "which {earlier} wrote and nothing has refreshed (erratum 1.29)"),
}


def hart_words(hart: int) -> str:
    """`minion 2`, or `hart 1 of minion 2`."""
    return f"hart 1 of minion {hart >> 1}" if hart & 1 else f"minion {hart >> 1}"


def site_words(site: Site, locator: Locator, unit: str) -> str:
    """Instruction of whom, and where: ` of minion 2 at 0x8000001020 (start+0x20, k.s:12) in cycle 40`."""
    place = f" at {locator.at(site['pc'])}" if site["pc"] else ""
    return f" of {hart_words(site['hart'])}{place}" + (f" in {unit} {site['cycle']}" if site["cycle"] else "")


def remedy(found: Finding) -> str:
    """Remedy of a hazard: `tensor_wait 0 is missing between them`."""
    return f"tensor_wait {found['wait']} is missing between them" if found["wait"] >= 0 else found["cure"]


def sentence(found: Finding, locator: Locator, unit: str = "cycle") -> str:
    """Sentence of a hazard, without its remedy."""
    does, earlier = _WORDS[found["kind"]]
    text = f"{found['later_name']}{site_words(found['later'], locator, unit)} {does.format(what=found['what'])}"
    if found["earlier_name"]:
        text += f", {earlier.format(earlier=found['earlier_name'] + site_words(found['earlier'], locator, unit))}"
    return text


def lines(findings: Sequence[Mapping[str, object]], locator: Locator, timed: bool = True) -> list[str]:
    """Lines of text, one for each place, with how often it was met. Without time, the model's cycles are numbers of
    instructions.
    """
    return [_line(cast("Finding", found), locator, _unit(timed)) for found in findings]


def diagnostic(finding: Mapping[str, object], locator: Locator, timed: bool = True) -> Diagnostic:
    """Diagnostic PL1380."""
    found = cast("Finding", finding)
    times = (f"this happened {found['count']} times",) if found["count"] > 1 else ()
    message = f"{_kind(found)}: {sentence(found, locator, _unit(timed))}"
    return Diagnostic("PL1380", message, INPUT, notes=times, help=remedy(found) or None)


def lost_diagnostic(findings: Sequence[Mapping[str, object]], locator: Locator, timed: bool = True) -> Diagnostic:
    """Diagnostic PL1382: what has set the bits of tensor_error that are set when the run ends."""
    standing = [cast("Finding", found) for found in findings if found["standing"]]
    told = [_lost_sentence(found, locator, _unit(timed)) for found in standing]
    return Diagnostic("PL1382", told[0], INPUT, notes=tuple(told[1:]), help=remedy(standing[0]))


def _lost_sentence(found: Finding, locator: Locator, unit: str) -> str:
    of = "" if found["standing"] == 1 else f" in {found['standing']} harts"
    return f"{sentence(found, locator, unit)}; when the run ends, it is still set{of}"


def as_json(findings: Sequence[Mapping[str, object]], locator: Locator, timed: bool = True) -> list[Json]:
    """JSON of `hazards` in a report. Cycles are null without time."""
    return [_json(cast("Finding", found), locator, timed) for found in findings]


def _unit(timed: bool) -> str:
    return "cycle" if timed else "instruction"


def _kind(found: Finding) -> str:
    return found["kind"].replace("_", " ")


def _line(found: Finding, locator: Locator, unit: str) -> str:
    times = f" ({found['count']} times)" if found["count"] > 1 else ""
    helps = f"; {remedy(found)}" if remedy(found) else ""
    return f"{_kind(found)}: {sentence(found, locator, unit)}{helps}{times}"


def _json(found: Finding, locator: Locator, timed: bool) -> Json:
    """JSON of a hazard (docs/targets/minion.md)."""
    earlier = site_json(found["earlier"], locator, found["earlier_name"], timed) if found["earlier_name"] else None
    return {
        "kind": found["kind"],
        "count": found["count"],
        "what": found["what"],
        "still_set": found["standing"] or None,
        "wait": found["wait"] if found["wait"] >= 0 else None,
        "missing": remedy(found),
        "text": sentence(found, locator, _unit(timed)),
        "later": site_json(found["later"], locator, found["later_name"], timed),
        "earlier": earlier,
    }


def site_json(site: Site, locator: Locator, name: str, timed: bool) -> dict[str, Json]:
    """JSON of an instruction, with null where nothing is known."""
    where = locator.at(site["pc"])
    return {
        "operation": name,
        "hart": site["hart"],
        "minion": site["hart"] >> 1,
        "pc": site["pc"] or None,
        "symbol": where.symbol or None,
        "file": where.file,
        "line": where.line or None,
        "cycle": (site["cycle"] or None) if timed else None,
    }
