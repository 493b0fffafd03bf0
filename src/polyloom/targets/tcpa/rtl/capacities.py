# SPDX-License-Identifier: Apache-2.0
"""Capacities of a circuit, and what a configuration needs of them."""

from __future__ import annotations

from typing import Final

from polyloom.diagnostics import PolyloomError, infeasible

FILES: Final = {
    "rd": "general_registers",
    "fd": "feedback_registers",
    "id": "input_registers",
    "od": "output_registers",
}
"""Capacities of register files."""


def refuse_configuration(message: str) -> PolyloomError:
    return infeasible("PL0640", message, help="take a machine that has more, or smaller sizes")


def check_need(what: str, used: int, most: int) -> None:
    if used > most:
        raise refuse_configuration(f"the configuration uses {used} {what}, and the circuit has {most}")
