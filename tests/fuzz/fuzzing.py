# SPDX-License-Identifier: Apache-2.0
"""Fuzzing of everything that reads: native code under sanitizers with libFuzzer, every reader behind the command line,
and an audit of what commands open.

`python -m tests.fuzz.fuzzing SECONDS [SEED]` divides the time among `FUZZERS` by their shares, and ends with exit code
1 at the first finding, which it saves in `build/fuzz` and names; `--build` instead of the seconds compiles the native
targets and leaves. Copy a finding of a native target to
`tests/fuzz/found/TARGET/`, whose files are seeds of every run; one of a reader goes into the test of what mends it.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Final

from tests.device.cases import MATMUL, Case, convolutions, examples, kernels
from tests.device.devices import LIBRARY, ROOT
from tests.fuzz import audit, readers, texts, tracing
from tests.fuzz.readers import READERS, Reader

from polyloom import api
from polyloom.targets.belt.words import belt_file

BUILD: Final = ROOT / "build" / "fuzz"
FOUND: Final = Path(__file__).parent / "found"
_HERE: Final = Path(__file__).parent
_NATIVE: Final = ROOT / "native"
_SANITIZERS: Final = ("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
_VALUES: Final = 8
_AUDITED: Final = 300


@dataclass(frozen=True, slots=True)
class Native:
    """A libFuzzer target: its sources, what they are compiled with, its seeds, and the longest input."""

    name: str
    sources: tuple[Path, ...]
    command: tuple[str, ...]
    seeds: Callable[[], Iterable[bytes]]
    longest: int

    def build(self, quickly: bool = False) -> Path:
        """The executable; one that is newer than everything it is made of is kept. `quickly`: not optimized, unless
        there is one that is. Optimizing the sanitizers' checks takes five times as long as compiling them.
        """
        BUILD.mkdir(parents=True, exist_ok=True)
        newest = max(path.stat().st_mtime for path in self._read())
        fast, plain = BUILD / f"fuzz_{self.name}", BUILD / f"fuzz_{self.name}-O0"
        for made in (fast, plain) if quickly else (fast,):
            if made.exists() and made.stat().st_mtime > newest:
                return made
        made, level = (plain, "-O0") if quickly else (fast, "-O1")
        flags = ("-gline-tables-only", level, "-Wall", "-Wextra", *_SANITIZERS)
        subprocess.run([*self.command, *flags, *map(str, self.sources), "-o", str(made)], check=True)
        return made

    def _read(self) -> Iterator[Path]:
        """Sources, whatever headers may be included, and this file, which has the flags."""
        yield Path(__file__)
        yield from self.sources
        for folder in _NATIVE.iterdir():
            yield from (*folder.glob("*.h"), *folder.glob("*.hpp"))

    def run(
        self, target: Path, corpus: Path, seconds: int, seed: int = 1, most: int = -1
    ) -> subprocess.CompletedProcess[str]:
        """Runs for `seconds`, or of `most` inputs; a finding is left in `build/fuzz` and gives another exit code than
        0.
        """
        corpus.mkdir(parents=True, exist_ok=True)
        found = FOUND / self.name
        for data in (*self.seeds(), *(path.read_bytes() for path in sorted(found.glob("*")))):
            (corpus / sha256(data).hexdigest()).write_bytes(data)
        limits = (
            f"-max_total_time={seconds}",
            f"-runs={most}",
            f"-max_len={self.longest}",
            "-timeout=120",
            "-report_slow_units=60",
            "-rss_limit_mb=2048",
            f"-seed={seed}",
            f"-artifact_prefix={BUILD}/{self.name}-",
        )
        return subprocess.run(
            [str(target), str(corpus), *limits, "-print_final_stats=1"], stderr=subprocess.PIPE, text=True
        )

    def fuzz(self, seconds: float, seed: int) -> str | None:
        """From what earlier runs kept."""
        if reason := missing():
            return reason
        done = self.run(self.build(), BUILD / f"corpus-{self.name}", max(1, int(seconds)), seed)
        print(f"{self.name}: {runs(done.stderr)} inputs", flush=True)
        return None if done.returncode == 0 else "\n".join(done.stderr.splitlines()[-60:])


@dataclass(frozen=True, slots=True)
class Fuzzer:
    """`fuzz(seconds, seed)` returns what it found, in words, or None; it gets `share` of the time in proportion to the
    others."""

    name: str
    share: float
    fuzz: Callable[[float, int], str | None]


def missing() -> str | None:
    """What this machine lacks for native targets."""
    if shutil.which("clang") is None:
        return "clang is not installed (Debian package `clang`)"
    trial = ["clang", *_SANITIZERS, "-x", "c", "-", "-o", "/dev/null"]
    text = "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return n && *d > 255; }"
    linked = subprocess.run(trial, input=text, text=True, capture_output=True).returncode == 0
    return None if linked else "clang has no libFuzzer (Debian package `libclang-rt-14-dev`)"


def _requests() -> Iterator[bytes]:
    """Examples and kernels with values and regions, as the target of instantiation understands them."""
    regions = ((1, 1), (2, 3))
    cases = (
        *examples(["bits", "fir", "jacobi1d"], "wide", regions),
        *kernels(["trisolv"], regions),
        *convolutions(regions),
    )
    yield from map(_request, (*cases, Case("matmul", MATMUL, (5, 7, 3), (2, 2))))


def _request(case: Case) -> bytes:
    values = (*case.values, *(0,) * (_VALUES - len(case.values)))
    return (
        struct.pack(f"<7B{_VALUES}i{_VALUES}B", len(case.values), *case.region, 0, 0, 0, 0, *values, *(8,) * _VALUES)
        + case.file
    )


def _walks() -> Iterator[bytes]:
    """Plans of several phases and of steps, symbolic and concrete, as the target of the walk understands them."""
    for path, values in (("tests/kernels/steps/floyd_warshall.py", (5,)), ("examples/kernels/atax.py", (5, 6))):
        made = api.compile(ROOT / path, on="tcpa:wide")
        given = dict(zip(made.parameters, values, strict=True))
        request = struct.pack("<6B4B", len(values), 2, 2, 0, 0, 0, *values, *(0,) * (4 - len(values)))
        yield request + made.data
        yield request + made.instantiate(given, pes=(2, 2)).data
    yield request + MATMUL


def _configurations() -> Iterable[bytes]:
    return (data for data in readers.concrete() if data.startswith(b"PLCC"))


INSTANTIATE: Final = Native(
    "instantiate",
    (_HERE / "fuzz_instantiate.c", *sorted(LIBRARY.glob("*.c"))),
    ("clang", "-std=c11", f"-I{LIBRARY}"),
    _requests,
    4096,
)
WALK: Final = Native(
    "walk",
    (_HERE / "fuzz_walk.c", *sorted(LIBRARY.glob("*.c"))),
    ("clang", "-std=c11", f"-I{LIBRARY}"),
    _walks,
    8192,
)
MODEL: Final = Native(
    "model",
    (_HERE / "fuzz_model.cpp", *(p for p in sorted((_NATIVE / "tcpa").glob("*.cpp")) if not p.stem.startswith("bind"))),
    ("clang++", "-std=c++20", "-ffp-contract=off", f"-I{_NATIVE}"),
    _configurations,
    8192,
)


def _reading(reader: Reader) -> Callable[[float, int], str | None]:
    def fuzz(seconds: float, seed: int) -> str | None:
        done = reader.fuzz(seconds, seed)
        print(f"{reader.name}: {done.tried} inputs", flush=True)
        if done.finding is None:
            return None
        BUILD.mkdir(parents=True, exist_ok=True)
        saved = BUILD / f"{reader.name.replace(' ', '-')}-{sha256(done.finding.data).hexdigest()[:12]}{reader.suffix}"
        saved.write_bytes(done.finding.data)
        return f"{saved}\n{done.finding.what}"

    return fuzz


def _c(seconds: float, seed: int) -> str | None:
    """The first finding in texts of C."""
    found = next(texts.fuzz_c(seconds, seed), None)
    return None if found is None else str(found)


def _audited(seconds: float, seed: int) -> str | None:
    """Some hundred files at a time."""
    if reason := tracing.missing():
        return reason
    end, tried = monotonic() + seconds, 0
    while tried == 0 or monotonic() < end:
        if found := audit.audited(_AUDITED, seed + tried):
            return found
        tried += _AUDITED
    print(f"audit: {tried} inputs", flush=True)
    return None


def _belt_code() -> Iterable[bytes]:
    """Code words behind the byte that chooses a member."""
    return (bytes((n % 8,)) + belt_file.parts(data).code for n, data in enumerate(readers.belt_programs()))


BELT: Final = Native(
    "belt",
    (_HERE / "fuzz_belt.cpp", *(p for p in sorted((_NATIVE / "belt").glob("*.cpp")) if not p.stem.startswith("bind"))),
    ("clang++", "-std=c++20", "-ffp-contract=off", f"-I{_NATIVE}"),
    _belt_code,
    4096,
)


NATIVES: Final = (INSTANTIATE, WALK, MODEL, BELT)
FUZZERS: Final = (
    Fuzzer("C", 2, _c),
    Fuzzer("audit of files that are data", 4, _audited),
    Fuzzer("native instantiation", 4, INSTANTIATE.fuzz),
    Fuzzer("native walk over plans", 3, WALK.fuzz),
    Fuzzer("native model", 4, MODEL.fuzz),
    Fuzzer("native model of the belt machine", 2, BELT.fuzz),
    *(Fuzzer(reader.name, reader.share, _reading(reader)) for reader in READERS),
)


def runs(report: str) -> int:
    """How many inputs libFuzzer tried."""
    _, found, rest = report.rpartition("stat::number_of_executed_units:")
    return int(rest.split()[0]) if found else 0


def fuzz_all(seconds: float, seed: int, fuzzers: Iterable[Fuzzer] = FUZZERS) -> str | None:
    """The first finding, or None."""
    chosen = list(fuzzers)
    whole = sum(f.share for f in chosen)
    for fuzzer in chosen:
        try:
            found = fuzzer.fuzz(seconds * fuzzer.share / whole, seed)
        except AssertionError as error:
            found = str(error)
        if found is not None:
            return f"{fuzzer.name}: {found}"
    return None


def main(arguments: list[str]) -> int:
    os.environ["POLYLOOM_DEBUG"] = "1"
    if reason := missing():
        print(reason, file=sys.stderr)
        return 0 if arguments[0] == "--build" else 1
    if arguments[0] == "--build":
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            print(*pool.map(Native.build, NATIVES), sep="\n")
        return 0
    found = fuzz_all(float(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 1)
    print("no finding" if found is None else found)
    return int(found is not None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
