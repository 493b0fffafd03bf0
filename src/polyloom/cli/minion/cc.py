# SPDX-License-Identifier: Apache-2.0
"""`polyloom cc`: bare-metal C, C++ and assembly to an executable of minions."""

from __future__ import annotations

from typing import Final

from polyloom import files
from polyloom.cli import target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import RESULTS, Parser, Request, usage_error

_TARGET: Final = "minion"
_MOST: Final = 1 << 24


def arguments(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE.c", nargs="*", help="sources in C, C++ (.cc) or assembly (.s, .S)")
    group = parser.group("source")
    help = "search DIR for headers"
    group.add_argument("-I", "--include", dest="includes", metavar="DIR", action="append", default=[], help=help)
    group.add_argument("-D", dest="defines", metavar="NAME[=VALUE]", action="append", default=[], help="define a macro")
    help = "bytes of each hart's stack (4096)"
    group.add_argument("--stack", metavar="BYTES", default="4096", help=help)
    target_flags.on_option(parser)
    results = parser.group(RESULTS)
    results.add_argument("-o", dest="output", metavar="FILE.elf", help="the executable")
    help = "write <minion.h> and what it includes into DIR, for editors and other compilers"
    results.add_argument("--headers", metavar="DIR", help=help)


def execute(options: Request) -> Answer:
    # Loaded here: `--help` does not need the compiler.
    from polyloom.targets import registry
    from polyloom.targets.minion.source.compile_c import CProgram, compile_c, headers

    target, place = registry.split_place(options.on or _TARGET)
    if target.name != _TARGET:
        raise usage_error(f"the target {target.name} compiles no bare-metal C", "write --on minion")
    # Editors want the headers of a program that need not compile yet.
    if options.headers:
        made = {f"{options.headers}/{name}": text.encode() for name, text in headers().items()}
        files.write(made)
        return Answer({"headers": list(made)}, "\n".join(made))
    if not options.files or not options.output:
        raise usage_error("what to compile, or where to write it, is missing", "write polyloom cc FILE.c -o FILE.elf")
    # Before the work: an output that cannot be written is refused at once.
    files.check_outputs([options.output], options.files)
    sources, includes, defines = tuple(options.files), tuple(options.includes), tuple(options.defines)
    data = compile_c(CProgram(sources, includes, defines, _stack_bytes(options.stack)), place.machine)
    files.write({options.output: data})
    member = f"{target.name}:{place.machine.name}"
    return Answer({"on": member, "bytes": len(data)}, f"{options.output}: {len(data)} bytes for {member}")


def _stack_bytes(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) <= _MOST or len(text) > len(str(_MOST)):
        raise usage_error(f"--stack {text[:40]} is no number of bytes from 1 to {_MOST}", "write --stack 8192")
    return int(text)
