# SPDX-License-Identifier: Apache-2.0
"""Codes of running vector kernels and of their tools: PL1290 to PL1299, in the form of `polyloom.codes.CODES`."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1290": (
        "array that does not fit Dst",
        "Dst holds 16 or 32 bits per datum, as `--dest` says: bf16, fp16, uint16 go with 16, "
        "fp32, int32 and uint32 with 32.",
    ),
    "PL1291": (
        "argument of a vector kernel",
        "`NAME=VALUE` gives a run-time argument, 32 bits in decimal or hexadecimal; a float is given by its bits. Each "
        "parameter\nthat is not bound in `--function` needs one. `polyloom float` makes bits of numbers.",
    ),
    "PL1292": (
        "malformed number",
        "`polyloom float` takes decimal numbers, fractions such as 1/3, inf and nan, and bits of a format: "
        "`0x3fc0 --as fp16b`.",
    ),
    "PL1293": (
        "sweep of nothing",
        "`polyloom sweep` takes the finite values of --format, of FP32 every --stride-th, from LOW to HIGH of --domain."
        " FP32 needs --dest 32.",
    ),
    "PL1294": (
        "unknown reference",
        "A reference is a function of one argument of NumPy or mpmath, or `module:function`, which takes and gives an "
        "array of doubles.",
    ),
}
