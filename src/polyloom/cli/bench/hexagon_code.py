# SPDX-License-Identifier: Apache-2.0
"""Peer of `bench hexagon`: what clang emits for loops on Hexagon, a machine of packets whose compiler pipelines in
software (LLVM's MachinePipeliner, swing modulo scheduling: Llosa et al. 1996).

A packet stands in braces. The emitted kernel of a loop is what lies from its label to the packet that ends a hardware
loop (`:endloop0`) or jumps back; its packets count, not the interval that a remark announces.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Final

from polyloom import extras, temporary
from polyloom.diagnostics import input_error

_FLAGS: Final = ("--target=hexagon", "-mcpu=hexagonv68", "-O2", "-fno-unroll-loops", "-ffreestanding", "-nostdinc")
_REMARKS: Final = ("-Rpass=pipeliner", "-Rpass-missed=pipeliner")
_LABEL: Final = re.compile(r"^(\.?\w+):(.*)$")
_REMARK: Final = re.compile(r":(\d+):\d+: remark: (.*) \[-Rpass(?:-missed)?=pipeliner\]")


@dataclass(frozen=True, slots=True)
class Emitted:
    """A function's code: its packets, and those of the kernels of its innermost loops."""

    packets: int
    kernels: tuple[int, ...]


def emitted_code(path: Path) -> Mapping[str, Emitted]:
    """By function of a C file. Errors: PL0967 without the extra `[c]`."""
    return {name: _function(lines) for name, lines in _functions(_compile_peer(path)[0].split("\n"))}


def refused_lines(path: Path) -> frozenset[int]:
    """The lines of the loops that its pipeliner leaves as they are."""
    return frozenset(int(line) for line, said in _REMARK.findall(_compile_peer(path)[1]) if said.startswith("Failed"))


def version() -> str:
    """Of clang, as it prints it."""
    return _run("--version").stdout.split("\n")[0]


@cache
def _compile_peer(path: Path) -> tuple[str, str]:
    """Assembly text and remarks; both are asked for, each by itself."""
    with temporary.temporary_folder() as folder:
        out = Path(folder, "out.s")
        done = _run(*_FLAGS, "-isystem", str(_headers()), *_REMARKS, "-S", "-o", str(out), str(path))
        return out.read_text(encoding="utf-8"), done.stderr


def _headers() -> Path:
    found = find_spec("ziglang")
    if found is None or found.origin is None:
        raise input_error(
            "PL0967", "the peer is clang, which is not installed", help=f"install it: `{extras.install_command('c')}`"
        )
    return Path(found.origin).parent / "lib" / "include"


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-m", "ziglang", "clang", *words], capture_output=True, text=True)
    if done.returncode:
        help = f"the peer of this table is another clang: `{extras.install_command('c')}`"
        raise input_error("PL0967", f"clang for Hexagon failed: {done.stderr.strip()[:200]}", help=help)
    return done


def _functions(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The lines of each function, from its label to its end."""
    name, found = "", list[str]()
    for line in lines:
        if (label := _LABEL.match(line)) and not label[1].startswith("."):
            name, found = label[1], []
        elif line.startswith(".Lfunc_end") and name:
            # `.Lfunc_end` follows each function: what stands between functions is data.
            yield name, found
            name = ""
        elif name:
            found.append(line)


def _items(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Labels with what the comments beside and below say of them, and packets: ("", text)."""
    held: list[str] | None = None
    for line, below in pairwise([*lines, ""]):
        text = line.partition("//")[0].strip()
        if held is not None:
            held.append(text)
            if text.startswith("}"):
                yield "", "\n".join(held)
                held = None
        elif text == "{":
            held = []
        elif label := _LABEL.match(line):
            yield label[1], label[2] + (below if below.lstrip().startswith("//") else "")


def _function(lines: Sequence[str]) -> Emitted:
    packets, kernels = 0, list[int]()
    inner, start = "", 0
    for label, text in _items(lines):
        if label:
            # clang's comment on the label of an innermost loop; others have no kernel.
            if "Inner Loop Header" in text:
                inner, start = label, packets
            continue
        packets += 1
        if inner and (":endloop0" in text or re.search(rf"jump\S* {re.escape(inner)}$", text, re.MULTILINE)):
            kernels.append(packets - start)
            inner = ""
    return Emitted(packets, tuple(kernels))
