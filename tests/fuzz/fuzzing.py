# SPDX-License-Identifier: Apache-2.0
"""Coverage-guided fuzzing of native/instantiate with libFuzzer under the address and undefined-behaviour sanitizers.

`python -m tests.fuzz.fuzzing SECONDS` builds the target, starts from the examples and from what earlier runs kept in `build/fuzz`, and
ends with exit code 1 at the first finding, which it names. Copy a finding to `tests/fuzz/found/`: the tests run all that is there.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.device.cases import MATMUL, Case, convolutions, examples, kernels
from tests.device.devices import LIBRARY, ROOT

BUILD: Final = ROOT / "build" / "fuzz"
FOUND: Final = Path(__file__).parent / "found"
_TARGET: Final = Path(__file__).with_name("fuzz_instantiate.c")
_SANITIZERS: Final = ("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
_VALUES: Final = 8
_LONGEST: Final = 4096


def missing() -> str | None:
    """What this machine lacks."""
    if shutil.which("clang") is None:
        return "clang is not installed (Debian package `clang`)"
    trial = ["clang", *_SANITIZERS, "-x", "c", "-", "-o", "/dev/null"]
    text = "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return n && *d > 255; }"
    linked = subprocess.run(trial, input=text, text=True, capture_output=True).returncode == 0
    return None if linked else "clang has no libFuzzer (Debian package `libclang-rt-14-dev`)"


def build() -> Path:
    """The executable."""
    BUILD.mkdir(parents=True, exist_ok=True)
    made = BUILD / "fuzz_instantiate"
    sources = map(str, (_TARGET, *sorted(LIBRARY.glob("*.c"))))
    subprocess.run(["clang", "-std=c11", "-g", "-O1", "-Wall", "-Wextra", *_SANITIZERS, f"-I{LIBRARY}", *sources, "-o", str(made)], check=True)
    return made


def seeds() -> Iterator[bytes]:
    """Requests for examples and kernels as the target understands them, and what earlier runs found fault with."""
    regions = ((1, 1), (2, 3))
    cases = (*examples(["bits", "fir", "jacobi1d"], "wide", regions), *kernels(["trisolv"], regions), *convolutions(regions))
    yield from map(_input, (*cases, Case("matmul", MATMUL, (5, 7, 3), (2, 2))))
    yield from (path.read_bytes() for path in sorted(FOUND.glob("*")))


def _input(case: Case) -> bytes:
    values = (*case.values, *(0,) * (_VALUES - len(case.values)))
    return struct.pack(f"<7B{_VALUES}i{_VALUES}B", len(case.values), *case.region, 0, 0, 0, 0, *values, *(8,) * _VALUES) + case.file


def fuzz(target: Path, corpus: Path, seconds: int) -> subprocess.CompletedProcess[str]:
    """Runs for `seconds`; a finding is left in `build/fuzz` and gives another exit code than 0."""
    corpus.mkdir(parents=True, exist_ok=True)
    for data in seeds():
        (corpus / sha256(data).hexdigest()).write_bytes(data)
    limits = (
        f"-max_total_time={seconds}",
        f"-max_len={_LONGEST}",
        "-timeout=120",
        "-report_slow_units=60",
        "-rss_limit_mb=2048",
        "-seed=1",
        f"-artifact_prefix={BUILD}/",
    )
    return subprocess.run([str(target), str(corpus), *limits, "-print_final_stats=1"], stderr=subprocess.PIPE, text=True)


def runs(report: str) -> int:
    """How many inputs were tried."""
    return int(report.rpartition("stat::number_of_executed_units:")[2].split()[0])


def main(arguments: list[str]) -> int:
    if reason := missing():
        print(reason, file=sys.stderr)
        return 1
    done = fuzz(build(), BUILD / "corpus", int(arguments[0]))
    print("\n".join(done.stderr.splitlines()[-40:]))
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
