# SPDX-License-Identifier: Apache-2.0
"""Files of a run: outputs, a trace, a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polyloom import npy
from polyloom.cli.arguments import Request, usage_error
from polyloom.report import perfetto, trace
from polyloom.run.instance import Result
from polyloom.targets.trace import Trace


def output_paths(options: Request, outputs: Mapping[str, str]) -> list[str]:
    """Every file that is written."""
    return [*outputs.values(), *(path for path in (options.trace, options.report) if path)]


def check_trace(path: str | None) -> None:
    """PL0801 for a trace of no known kind."""
    # Before the run: a wrong ending must not cost its result.
    if path is not None and not path.endswith((".json", ".json.gz", ".pftrace", ".vcd")):
        message = f"the trace file '{path}' ends in none of .json, .json.gz, .pftrace and .vcd"
        raise usage_error(message, "write for instance --trace run.json")


def encode_trace(path: str, found: Trace) -> bytes:
    """Trace in the format that the ending of its name says: VCD (IEEE 1364-2005, section 18), Perfetto's own packets or
    its JSON, compressed for .gz.
    """
    if path.endswith(".pftrace"):
        return perfetto.encode(found)
    made = (trace.vcd if path.endswith(".vcd") else trace.perfetto)(found)
    return trace.compress_trace(made) if path.endswith(".gz") else made


def run_artefacts(
    options: Request, result: Result, outputs: Mapping[str, str], passes: Sequence[tuple[str, str]] = ()
) -> dict[str, bytes]:
    """Files of a run: bytes by path. `passes` are forms between passes, which the page shows in columns."""
    made = {path: npy.encode(result.outputs[name]) for name, path in outputs.items()}
    if options.trace:
        made[options.trace] = encode_trace(options.trace, result.trace)
    if options.report:
        made[options.report] = result.page(passes).encode()
    return made
