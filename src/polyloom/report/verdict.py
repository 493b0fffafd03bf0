# SPDX-License-Identifier: Apache-2.0
"""Verdict texts: the verdict on outputs in words, from the data of `--json`; the one vocabulary of texts, pages and
tables.

`equal bits, compared with A and B`, or `within E of B (bound X), equal bits with A`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

Mood = Literal["good", "bad", "plain"]


def verdict(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """Of all comparisons, the decisive first."""
    if not comparisons:
        return "not compared: no source"
    comparisons = [each for each in comparisons if "outputs" not in each or each["verdict"] == "differs"]
    # Of equal verdicts the last comparison decides (`run.verdict.decisive`), so that it is named first.
    nearest = comparisons[::-1]
    parts = [f"DIFFERS from {each['what']}" for each in nearest if each["verdict"] == "differs"]
    parts += [f"within {_describe_error(each, each['what'])}" for each in nearest if each["verdict"] == "within"]
    equal = join_words([each["what"] for each in comparisons if each["verdict"] == "equal bits"])
    if not parts:
        return f"equal bits, compared with {equal}"
    return ", ".join([*parts, *([f"equal bits with {equal}"] if equal else [])])


def distances(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Of oracles that round in another order: rows of how far each output is from theirs."""
    return [
        (f"{name} by {each['what']}", _describe_distance(found))
        for each in data.get("comparisons") or ()
        for name, found in each.get("outputs", {}).items()
    ]


def run_verdict(data: Mapping[str, Any]) -> str:
    """Of the data of `run --json`."""
    return verdict(data.get("comparisons") or ())


def brief(data: Mapping[str, Any]) -> str:
    """In a cell of a table, of the keys that `--json` has."""
    if data.get("verdict") is None:
        return "not compared"
    return f"within {_describe_error(data)}" if data["verdict"] == "within" else str(data["verdict"])


def mood(data: Mapping[str, Any]) -> Mood:
    """Whether it is good news."""
    return "plain" if data.get("verdict") is None else "bad" if data["verdict"] == "differs" else "good"


def join_words(words: Iterable[str]) -> str:
    """In a sentence."""
    *first, last = tuple(words) or ("",)
    return " and ".join(filter(None, (", ".join(first), last)))


def _describe_distance(of: Mapping[str, Any]) -> str:
    return f"largest difference {_figure(of['error'])}, {_bound_words(of)}"


def _describe_error(of: Mapping[str, Any], what: str = "") -> str:
    return " ".join(filter(None, (_figure(of["error"]), f"of {what}" if what else "", f"({_bound_words(of)})")))


def _bound_words(of: Mapping[str, Any]) -> str:
    return f"bound {_figure(of['bound'])}" if of.get("bound") is not None else "no bound known"


def _figure(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"
