# SPDX-License-Identifier: Apache-2.0
"""Codes of the Minion target that belong to machines, files and runs: PL1300 to PL1329, in the form of
`polyloom.codes.CODES`."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1300": (
        "unknown Minion machine",
        "`polyloom machines minion` lists the shipped machines; the name of a file ends in `.toml`, as in `--on "
        "minion:small.toml:32`.",
    ),
    "PL1301": (
        "split of a shire that does not add up",
        "Each shire has 4096 KiB of SRAM. `l2_kib`, `l3_kib` and `scratchpad_kib` divide all of them: 512, 1024 and "
        "2560 as the\nfirmware does.",
    ),
    "PL1302": (
        "number of minions",
        "`--on minion:N` takes 1 to 32 minions, which are those of shire 0, or whole shires of 32: 64, 96 and so on, "
        "up to 1024.",
    ),
    "PL1303": (
        "no program for the Minion",
        "A program is a static little-endian ELF executable for RV64 without `d` and `a` (compile with -march=rv64imfc "
        "-mabi=lp64f, link\nwith -static), or raw bytes: `--raw 0x8000001000=FILE --entry 0x8000001000`.",
    ),
    "PL1304": (
        "program outside memory",
        "Programs and data lie in DRAM (0x8000000000 to 0x87FFFFFFFF) or in the scratchpads (0x80000000 on); code runs "
        "from DRAM only.\nThe message names what there is at the address.",
    ),
    "PL1305": (
        "overlapping segments",
        "Two parts of what is loaded take the same bytes of memory. Give them other addresses.",
    ),
    "PL1306": (
        "entry outside code",
        "All harts start at the entry, which has to lie in an executable segment or in a file of `--raw`, at an even "
        "address.",
    ),
    "PL1307": (
        "unknown place in memory",
        "`--in` and `--out` name a symbol of the program or an address: `--in A=a.npy`, `--out "
        "0x8000100000=c.npy:16x16:f32`.\nWhat is taken out needs a shape and a type, unless a symbol says how many "
        "bytes it has.",
    ),
    "PL1308": (
        "array that does not fit its place",
        "A place that has a size takes at most as many bytes, and an array of the type and shape that is written "
        "behind it.",
    ),
    "PL1309": (
        "unhandled trap",
        "A hart took a trap while `mtvec` was 0. The message says which hart, where, and why; install a handler, or "
        "mend the instruction.",
    ),
    "PL1310": (
        "run that does not end",
        "The program ran for as many cycles as `--max-cycles` allows. Programs end by writing 0x1FEED000 (pass) to "
        "`validation0`\n(CSR 0x8D0) on every hart.",
    ),
    "PL1311": (
        "program that says it failed",
        "A hart wrote 0x50BAD000 to `validation0`: the program itself found something wrong.",
    ),
    "PL1312": (
        "word that is no instruction",
        "The code has a word that no instruction of RV64IMFC or of the vendor's extension encodes; a hart that reaches "
        "it traps. Standard\natomics (0x2F) and double precision are not among them.",
    ),
    "PL1313": (
        "emulator that does not run",
        "`--peer` names the vendor's emulator `sys_emu`, which is started on the same program. It could not be "
        "started, failed, or\ndid not end.",
    ),
}
