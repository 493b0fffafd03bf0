# SPDX-License-Identifier: Apache-2.0
"""`polyloom device`: the folder of the library that instantiates on a device, for whoever builds firmware with it
(docs/device.md).
"""

from __future__ import annotations

from pathlib import Path

import polyloom
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.diagnostics import input_error
from polyloom.extras import AGAIN

_PACKAGE = Path(polyloom.__file__).parent
_HEADER = "polyloom_instantiate.h"


def folder() -> Path:
    """Headers, sources and CMake's file: in an installed package, or in a checkout. PL0814 if there is none."""
    for place in (_PACKAGE / "device", _PACKAGE.parents[1] / "native" / "instantiate"):
        if (place / _HEADER).is_file():
            return place
    raise input_error(
        "PL0814",
        "the device library is not installed",
        help=AGAIN,
    )


def arguments(parser: Parser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--include", action="store_true", help="print the folder of the headers")
    group.add_argument("--sources", action="store_true", help="print the C files, one per line")
    group.add_argument(
        "--cmake", action="store_true", help="print the folder of the package `polyloom_device` for CMake"
    )


def execute(options: Request) -> Answer:
    place = folder()
    sources = sorted(str(path) for path in place.glob("*.c"))
    data = {"include": str(place), "sources": sources, "cmake": str(place)}
    if options.sources:
        return Answer(data, "\n".join(sources))
    if options.include or options.cmake:
        return Answer(data, str(place))
    return Answer(data, f"{place}: polyloom_instantiate.h, polyloom_plan.h, {len(sources)} C files, CMake's package")
