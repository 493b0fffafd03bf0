# SPDX-License-Identifier: Apache-2.0
"""Codes of running a tile: PL1220 to PL1229, in the form of `polyloom.codes.CODES`."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1220": (
        "fault on a tile",
        "The program does what the tile cannot do, or what the model does not cover; the message names it. The tile's "
        "state is as it was\nbefore the instruction.",
    ),
    "PL1221": (
        "hazard on a tile",
        "The hardware does not wait here, and goes on with an old value or loses an instruction. The help says what to "
        "put between;\n`--hazards report` lists all of them and goes on.",
    ),
    "PL1222": (
        "deadlock of a tile",
        "No core, thread or unit can move again. The notes say what each waits for: a semaphore nobody posts, a mutex "
        "nobody releases, a\nbank of SrcA or SrcB nobody fills, an empty mailbox.",
    ),
    "PL1223": (
        "unknown part of a tile",
        "Cores are b, t0, t1, t2 and nc, threads t0, t1 and t2; hazards are `error`, `report` or `off`.",
    ),
    "PL1224": (
        "program outside of a core's memory",
        "A core's program lies in L1 (0 to 0x16FFFF) or its local memory, NC's also in its instruction memory. The "
        "linker scripts in\n`pl.tensix.include` place programs so.",
    ),
    "PL1225": (
        "unknown place of a tile",
        "`--in` and `--out` name an address in L1 for bytes, `ADDRESS:FORMAT` for tiles, `dst:FORMAT`, or an array of "
        "`pl.tensix.Tile`.\nFormats are bf16, fp16, fp32, int32, uint32 and uint16, in L1 also int8, uint8 and bfp8.",
    ),
    "PL1226": (
        "array that does not fit a place",
        "Dst, and L1 in a format, take (rows, 16), or tiles of (32, 32) and (n, 32, 32), as floats or as unsigned "
        "bits; other arrays are\nthose of `pl.tensix.Tile`, in shape and type.",
    ),
    "PL1227": (
        "kernel for another architecture",
        "A header that the kernel includes is that of another member: it lies in the library of Blackhole or Quasar, "
        "and the library of the\nmember that `--on` names has none of this name.",
    ),
    "PL1228": (
        "operand of a low-level kernel",
        "`--in` and `--out` of `polyloom llk` name operands: `NAME[@ADDRESS][:FORMAT]`. They lie in L1 behind the "
        "programs of the cores, at\nmultiples of 16 bytes, and do not overlap.",
    ),
    "PL1229": (
        "low-level kernel that does not link",
        "A kernel is three files, unpack, math and pack, or one that tells them apart. Each has `run_kernel`, "
        "`kernel_main` or `main`, defines\nwhat it calls, and fits its core's memory.",
    ),
}
