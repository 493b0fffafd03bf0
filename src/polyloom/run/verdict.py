# SPDX-License-Identifier: Apache-2.0
"""Verdict on outputs: `equal bits`, or `within` an error and its bound, or `differs`; and what was compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final, Literal

from polyloom.diagnostics import Diagnostic
from polyloom.targets.target import Json

Verdict = Literal["equal bits", "within", "differs"]
_VERDICTS: Final[tuple[Verdict, ...]] = ("equal bits", "within", "differs")
"""The worst last."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Comparison of outputs with those of one oracle, `name` in data and `what` in sentences. `error` is the greatest
    of all elements, `bound` the greatest of their bounds, None where there is none. `outputs` are both for each output,
    of an oracle that is apart."""

    name: str
    what: str
    verdict: Verdict
    error: float = 0.0
    bound: float | None = None
    difference: Diagnostic | None = None
    outputs: Mapping[str, tuple[float, float | None]] | None = None

    @property
    def data(self) -> dict[str, Json]:
        """JSON object as `run --json` has it."""
        is_near = self.verdict == "within" or (self.verdict == "equal bits" and self.bound is not None)
        far = {"error": _json_number(self.error), "bound": _json_number(self.bound)} if is_near else {}
        pairs = [(name, each) for name, each in (self.outputs or {}).items()]
        apart: Json = {
            name: {"error": _json_number(error), "bound": _json_number(bound)} for name, (error, bound) in pairs
        }
        told: dict[str, Json] = {} if self.outputs is None else {"outputs": apart}
        return {"with": self.name, "what": self.what, "verdict": self.verdict, **far, **told}


def severity(of: Compared) -> tuple[int, float]:
    """Sort key of comparisons: the greater, the worse."""
    return _VERDICTS.index(of.verdict), of.error


def decisive(found: Sequence[Compared]) -> Compared | None:
    """Comparison that gives the verdict: the last that differs, else the last within a bound, else the last."""
    # `max` keeps the first of equal ones: reversed, that is the last one.
    deciding = [each for each in found if each.outputs is None or each.verdict == "differs"]
    return max(reversed(deciding), key=lambda each: _VERDICTS.index(each.verdict), default=None)


def verdict_keys(found: Sequence[Compared]) -> Mapping[str, Json]:
    """Keys of `--json`: what every run, and every row of a comparison, says of its outputs."""
    first = decisive(found)
    far = {key: value for key, value in first.data.items() if key in ("error", "bound")} if first is not None else {}
    return {
        "verdict": None if first is None else first.verdict,
        **far,
        "compared_with": [each.name for each in found],
        "comparisons": [each.data for each in found],
    }


def _json_number(value: float | None) -> Json:
    """Number as JSON, which has no infinity (RFC 8259, section 6)."""
    return value if value is None or isfinite(value) else str(value)
