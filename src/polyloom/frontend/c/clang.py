# SPDX-License-Identifier: Apache-2.0
"""clang as a process: the one place that runs it; it comes in the `ziglang` wheel (extra `c`).

Syntax trees and objects are made by clang itself with the C headers of the wheel (declarations alone are used, so those
of musl serve every host); `zig cc` only links, because it adds sanitizers, optimizes for the host and builds run-time
libraries that nothing needs here. Single precision is kept exact: no contraction (the C standard's FP_CONTRACT, off),
no fast mathematics, no target features beyond the baseline.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import platform
import re
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from polyloom import buffers, extras, files, temporary
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error
from polyloom.frontend.c.positions import Files
from polyloom.frontend.source import Options
from polyloom.recursion import nesting_error

# `char` has a sign on every host, as on x86: the same file means the same on an ARM host. Warnings are the user's
# affair.
LANGUAGE = ("-fsigned-char", "-w", "-fno-color-diagnostics", "-fno-caret-diagnostics")
C = ("-std=gnu17",)
CPP = ("-xc++", "-std=c++20", "-ffreestanding", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")
ASSEMBLY = ("-xassembler-with-cpp",)
"""What a unit is written in. C++ has no library here, and what would need one to run."""
ARITHMETIC = (
    "-O1",
    "-fPIC",
    # A product and a sum round twice, as the array computes them (IEEE 754, section 5.4.1); `madd` is asked for by
    # `fmaf`.
    "-ffp-contract=off",
    # Signed integers wrap, as all operations of this package do, where C leaves overflow undefined.
    "-fwrapv",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    # Otherwise clang folds them with another sign of zero than `_LIBRARY` has.
    "-fno-builtin-fminf",
    "-fno-builtin-fmaxf",
    "-fno-builtin-fmin",
    "-fno-builtin-fmax",
)
# Loops that count characters must not become calls of `strlen`, which bare metal lacks.
INLINE = ("-mllvm", "-disable-loop-idiom-strlen", "-mllvm", "-disable-loop-idiom-wcslen")
SCALAR = (
    "-fno-pic",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-fno-jump-tables",
    "-fno-discard-value-names",
    "-gline-tables-only",
    *INLINE,
)
"""Scalars alone, with names and lines; switches stay, because tables of their results are integers of odd widths, and
loops stay loops."""
ALONE = ("-fvisibility=hidden", "-ffunction-sections", "-fdata-sections", "-fno-strict-float-cast-overflow")
"""Only what the entry function needs stays in a library: neither `main` nor the functions that it calls must link. A
float beyond the range of an integer saturates, as the operations `to_...` do, where C has no rule."""
INLINED = (
    "#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)\n",
    "#pragma clang attribute pop\n",
)
"""What is called becomes part of its callers, unless it calls itself or is `noinline`."""

# JSON is the only form of the tree with positions that a program can read; its text form changes between versions.
_DUMP = ("-fsyntax-only", "-Xclang", "-ast-dump=json")
_MOST = 1 << 30
"""Bytes that clang may write. It indents trees, so that a sum of n terms takes some 400 n^2 bytes, nearly all of which
are spaces."""

_LIBRARY = """
__attribute__((weak)) float fminf(float a, float b) { return a != a || b < a ? b : a; }
__attribute__((weak)) float fmaxf(float a, float b) { return a != a || b > a ? b : a; }
__attribute__((weak)) double fmin(double a, double b) { return a != a || b < a ? b : a; }
__attribute__((weak)) double fmax(double a, double b) { return a != a || b > a ? b : a; }
"""
"""C leaves the sign of a zero open (C17 F.10.9.2): here the first of equals, as everywhere in this package. A unit of
its own, which a file's macros do not reach; functions that the file defines under these names win."""
_TARGET_OF = re.compile(
    r'^(?:target |!llvm\.module\.flags ).*$|"(?:target-cpu|target-features|tune-cpu)"="[^"]*"', re.MULTILINE
)
"""What ties a module of LLVM's to a target."""
Explain = Callable[[str], Iterable[Diagnostic]]
_ERROR = re.compile(r"^(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<message>.*)$")


def syntax_tree(path: str, options: Options, target: str = "") -> Any:
    """Abstract syntax tree as clang's JSON; every location with an `offset` has its `file`. Types, macros and headers
    are those of `target`, by default this host's. Within `cached_trees` a second call gets the same tree, which is not
    to be changed. Raises PL0150 and PL0151.
    """
    kept, key = _TREES.get(), (path, replace(options, function=None), target)
    if kept is None:
        return _dump_tree(path, options, target)
    if key not in kept:
        kept[key] = _dump_tree(path, options, target)
    return kept[key]


@contextlib.contextmanager
def cached_trees() -> Generator[None]:
    """Memoization of syntax trees while files are read that nobody changes: each is dumped once."""
    token = _TREES.set({})
    try:
        yield
    finally:
        _TREES.reset(token)


# A context variable, not a global: threads that compile other files at the same time do not share trees.
_TREES: ContextVar[dict[tuple[str, Options, str], Any] | None] = ContextVar("trees", default=None)


def _dump_tree(path: str, options: Options, target: str) -> Any:
    file = ""

    def locate(item: dict[str, Any]) -> dict[str, Any]:
        # clang names a file only where it changes, and a decoder closes locations in the order of the text
        nonlocal file
        if "offset" in item:
            file = item.setdefault("file", file)
        return item

    try:
        dump = _run_clang(options, *_target_option(target), *_DUMP, path, machine=_header_machine(target))
    except _TooMuch:
        raise nesting_error(path) from None
    return json.loads(dump, object_hook=locate)


def printed_function(path: str, name: str, options: Options, target: str = "") -> str:
    """Function as clang prints it, macros expanded: the tree lacks the outermost extents of parameters, which C adjusts
    to pointers (C17, section 6.7.6.3, paragraph 7).
    """
    words = ("-fsyntax-only", "-Xclang", "-ast-print", "-Xclang", f"-ast-dump-filter={name}")
    text = _run_clang(options, *_target_option(target), *words, path, machine=_header_machine(target))
    return next(
        part
        for part in re.split(r"^Printing ", text, flags=re.MULTILINE)
        if part.startswith(f"{name}:\n") and "{" in part
    )


def evaluate_constants(path: str, expressions: Sequence[str], options: Options, target: str) -> list[int]:
    """Evaluation of integer constant expressions (C17, section 6.6) at the end of the file, where the C is that of
    `target`.
    """
    # As enumerators, whose values clang computes and writes into the tree.
    named = ", ".join(f"polyloom_constant_{k} = ({text})" for k, text in enumerate(expressions))
    with temporary.temporary_folder() as folder:
        source = Path(folder, "unit.c")
        source.write_text(
            f"{include_directive(path)}\nenum {{ {named} }};\n", encoding="utf-8", errors="surrogateescape"
        )
        unit = syntax_tree(str(source), options, target)
    found = unit["inner"][-1]["inner"]
    return [int(_constant_node(constant)["value"]) for constant in found]


def _constant_node(item: Any) -> Any:
    """The outermost part of an enumerator that has a value."""
    while "value" not in item:
        item = item["inner"][0]
    return item


def llvm_module(
    unit: str,
    level: int,
    target: str,
    options: Options,
    *more: str,
    language: tuple[str, ...] = C,
    explained: Explain | None = None,
) -> str:
    """LLVM IR of the text `unit`, with names and lines, optimized to `level`, 0 to 2, for `target`; `more` are options
    of clang. `explained` makes diagnostics of clang's messages.
    """
    with temporary.temporary_folder() as folder:
        source = Path(folder, "unit.c")
        source.write_text(unit, encoding="utf-8", errors="surrogateescape")
        return _run_clang(
            options,
            *ARITHMETIC,
            *SCALAR,
            *more,
            f"-O{level}",
            f"--target={target}",
            "-S",
            "-emit-llvm",
            "-o",
            "-",
            str(source),
            machine=_header_machine(target),
            language=language,
            explained=explained,
        )


def bare_executable(
    units: Sequence[tuple[tuple[str, ...], str]],
    script: str,
    target: str,
    options: Options,
    *more: str,
    explained: Explain | None = None,
    unlinked: Explain | None = None,
    encoded: Callable[[str], str] | None = None,
) -> bytes:
    """Static executable of texts, each behind the options of its language, for a machine without a system, placed by a
    linker script; `explained` and `unlinked` make diagnostics of the messages of clang and of the linker (ELF
    specification, "Program Linking"). `encoded` writes instructions that clang's assembler does not know as words, in
    the assembly of each unit.
    """
    words = (*ARITHMETIC, "-O2", "-fno-pic", "-ffunction-sections", "-fdata-sections", *more, f"--target={target}")
    with temporary.temporary_folder() as folder:
        objects: list[str] = []
        for number, (language, unit) in enumerate(units):
            source = Path(folder, f"unit{number}.c")
            source.write_text(unit, encoding="utf-8", errors="surrogateescape")
            objects.append(str(source.with_suffix(".o")))
            rest = (*words, "-c", str(source), "-o", objects[-1])
            # LLVM's own assembler would refuse what inline assembly has; as text it stays as it is written.
            if encoded:
                stop = ("-E",) if language == ASSEMBLY else ("-S", "-fno-integrated-as")
                rest = (*words, *stop, str(source), "-o", "-")
            text = _run_clang(options, *rest, machine=_header_machine(target), language=language, explained=explained)
            if encoded:
                source.with_suffix(".s").write_text(encoded(text), encoding="utf-8", errors="surrogateescape")
                rest = (*words, "-c", str(source.with_suffix(".s")), "-o", objects[-1])
                _run_clang(options, *rest, machine=_header_machine(target), language=(), explained=explained)
        placed, linked = Path(folder, "script.ld"), Path(folder, "linked.elf")
        placed.write_text(script, encoding="utf-8")
        # Relaxation needs a global pointer, which start-up code of our own does not set. Labels of the compiler say
        # nothing in listings.
        link = ("--gc-sections", "--no-relax", "--discard-locals", "-T", str(placed), *objects, "-o", str(linked))
        _run_zig("ld.lld", *link, explained=unlinked)
        return linked.read_bytes()


def include_directive(path: str) -> str:
    """Include directive for a file. Its name is taken as it stands, without escapes (C17, section 6.4.7). Errors:
    PL0104, for a name that the directive cannot hold.
    """
    name = str(Path(path).resolve())
    if re.search(r"[\n\r]", name) or ('"' in name and ">" in name):
        help = "rename it: a name without line breaks, and with a quote or `>` at most"
        raise input_error("PL0104", f"cannot read {path}: C cannot include a file of this name", help=help)
    return f"#include <{name}>" if '"' in name else f'#include "{name}"'


def shared_library(unit: str, options: Options, model: str = "") -> Path:
    """Shared library of the C text `unit`, made once for each content (with all that it includes) and kept in a
    temporary directory.

    Where `model` names a target, the C text means what it does there (how wide `long` is), and the machine code is this
    host's.
    """
    # Content addressing: the preprocessed text is the key, so that a changed header gives another library.
    with temporary.temporary_folder() as folder:
        source = Path(folder, "unit.c")
        source.write_text(unit, encoding="utf-8", errors="surrogateescape")
        expanded = _run_clang(options, "-E", "-P", *_target_option(model), str(source), machine=_header_machine(model))
        # What the preprocessor writes is all that is compiled, but for how constants are read.
        made = (version("ziglang"), ARITHMETIC, ALONE, _LIBRARY, model, options.single_constants, expanded)
        key = sha256(repr(made).encode()).hexdigest()
        library = _cache_folder() / f"{key}.so"
        if not library.exists():
            _build_library(source, library, options, model)
        return library


def _target_option(target: str) -> tuple[str, ...]:
    return (f"--target={target}",) if target else ()


def _header_machine(target: str) -> str:
    """Whose headers are read."""
    return target.partition("-")[0] or platform.machine()


def _build_library(source: Path, library: Path, options: Options, model: str) -> None:
    object, linked = source.with_suffix(".o"), source.with_suffix(".so")
    if model:
        text = llvm_module(source.read_text(encoding="utf-8", errors="surrogateescape"), 1, model, options, *ALONE)
        # Sizes and layouts are fixed in LLVM's IR already: without its triple it becomes this host's machine code.
        source = source.with_suffix(".ll")
        source.write_text(_TARGET_OF.sub("", text), encoding="utf-8")
    _run_clang(options, *ARITHMETIC, *ALONE, "-c", str(source), "-o", str(object))
    _run_zig(
        "cc",
        "-shared",
        # The result is loaded into Python's process, which has C's library already.
        "-nostdlib",
        "-mcpu=baseline",
        "-fno-sanitize=all",
        "-Wl,--gc-sections",
        str(object),
        str(_minimum_object(object.parent)),
        "-o",
        str(linked),
    )
    files.write({str(library): linked.read_bytes()})


def _minimum_object(folder: Path) -> Path:
    """The object of `_LIBRARY`, made in `folder` once and kept."""
    kept = _cache_folder() / f"{sha256(repr((version('ziglang'), ARITHMETIC, _LIBRARY)).encode()).hexdigest()}.o"
    if not kept.exists():
        source, object = folder / "library.c", folder / "library.o"
        source.write_text(_LIBRARY, encoding="utf-8")
        _run_clang(Options(), *ARITHMETIC, *ALONE, "-c", str(source), "-o", str(object))
        files.write({str(kept): object.read_bytes()})
    return kept


def _run_clang(
    options: Options,
    *arguments: str,
    machine: str = platform.machine(),
    language: tuple[str, ...] = C,
    explained: Explain | None = None,
) -> str:
    """Output of clang, with the headers of a machine. Its errors become ours."""
    given = (*(f"-I{folder}" for folder in options.includes), *(f"-D{definition}" for definition in options.defines))
    # Before the file, whose functions then see theirs declared (C17, section 6.9).
    given = (*given, *(word for file in options.companions for word in ("-include", str(Path(file).resolve()))))
    single = ("-Xclang", "-cl-single-precision-constant") if options.single_constants else ()
    # What is written in the place of a buffer was made of it.
    texts = {**dict(buffers.unsaved_texts()), **dict(options.instead)}
    with _overlay(tuple(texts.items())) as overlay:
        words = (*language, *LANGUAGE, *_header_options(machine), *given, *single, *overlay, *arguments)
        return _run_zig("clang", *words, explained=explained)


@contextlib.contextmanager
def _overlay(texts: Sequence[tuple[str, str]]) -> Generator[tuple[str, ...]]:
    """Virtual file system overlay: the words that make clang read other texts at these paths, so that positions in
    messages stay the user's.
    """
    if not texts:
        yield ()
        return
    with temporary.temporary_folder() as folder:
        roots: list[dict[str, object]] = []
        for number, (path, text) in enumerate(texts):
            other = Path(folder, f"{number}.c")
            other.write_text(text, encoding="utf-8", errors="surrogateescape")
            roots.append({"name": str(Path(path).resolve()), "type": "file", "external-contents": str(other)})
        overlay = Path(folder, "overlay.yaml")
        overlay.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": roots}), encoding="utf-8")
        yield "-ivfsoverlay", str(overlay)


def _run_zig(*arguments: str, explained: Explain | None = None) -> str:
    """Run of a tool of the wheel in an empty cache: Zig's own caches would keep what a killed run leaves; nothing that
    is used here is found in them again.
    """
    zig = _zig_path()
    with temporary.temporary_folder() as caches, tempfile.TemporaryFile() as messages:
        environment = {
            **os.environ,
            "ZIG_GLOBAL_CACHE_DIR": str(caches),
            "ZIG_LOCAL_CACHE_DIR": str(caches),
            # Messages are matched by `_ERROR`, and must not be translated.
            "LC_ALL": "C",
        }
        try:
            process = subprocess.Popen(
                [zig, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages, env=environment
            )
        except OSError as error:
            help = f"install it again: `{extras.install_command('c', '--force-reinstall')}`"
            raise PolyloomError(
                Diagnostic("PL0150", f"clang cannot be started: {error.strerror}", USAGE, help=help)
            ) from None
        with process:
            try:
                written = _read_output(process, without_indentation="-ast-dump=json" in arguments)
            # An interrupt, too, must not leave a compiler running that writes a gigabyte.
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            messages.seek(0)
            raise PolyloomError(*(explained or diagnostics)(messages.read().decode("utf-8", "replace")))
        return written.decode("utf-8", "replace")


class _TooMuch(Exception):
    """clang writes more than `_MOST` bytes."""


def _read_output(process: subprocess.Popen[bytes], *, without_indentation: bool) -> bytes:
    """Output of the process up to `_MOST` bytes; texts in JSON have no ends of lines, so that lines may lose their
    indentation.
    """
    assert process.stdout is not None
    found, size = list[bytes](), 0
    for line in process.stdout:
        size += len(line)
        if size > _MOST:
            raise _TooMuch
        # Nested expressions indent quadratically; without the spaces a tree fits into memory.
        found.append(line.lstrip() if without_indentation else line)
    return b"".join(found)


def diagnostics(messages: str) -> Iterator[Diagnostic]:
    """Diagnostics of clang's messages: its errors as they stand, at the user's positions, as PL0151."""
    known = Files()
    found = False
    for match in filter(None, map(_ERROR.match, messages.splitlines())):
        found = True
        span = known.word_span(match["file"], int(match["line"]), int(match["column"]))
        message = re.sub(r" \[-W[\w-]+\]$", "", match["message"])
        yield Diagnostic("PL0151", f"the C compiler says: {message}", span=span, help=_help(message))
    # A stack overflow of clang leaves no message that `_ERROR` matches.
    if not found:
        help = (
            None
            if messages.strip()
            else "it ends like that on expressions with thousands of operators within each other: split them"
        )
        yield Diagnostic("PL0151", f"the C compiler says: {messages.strip() or 'nothing, but fails'}", help=help)


def _help(message: str) -> str | None:
    if "undeclared function 'SCALAR_VAL'" in message:
        return "PolyBench defines it for floating point only: add -D 'SCALAR_VAL(x)=x'"
    if missing := re.match(r"'(.*)' file not found", message):
        return f"give the folder of {missing[1]} with -I"
    if unknown := re.search(r"undeclared (?:identifier|function) '(.*?)'", message):
        return f"declare `{unknown[1]}`, or define it with -D {unknown[1]}=..."
    return None


@cache
def _zig_path() -> str:
    found = find_spec("ziglang")
    if found is None or found.origin is None:
        help = f"install it: `{extras.install_command('c')}`"
        raise PolyloomError(Diagnostic("PL0150", extras.NO_CLANG, USAGE, help=help))
    return str(Path(found.origin).with_name("zig.exe" if os.name == "nt" else "zig"))


@cache
def _header_options(machine: str) -> tuple[str, ...]:
    # Names of machines as Windows and macOS have them.
    """Include path of C's headers in the wheel for a machine: clang's own first, then musl's, then the kernel's."""
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    library = Path(_zig_path()).parent / "lib"
    libc = library / "libc" / "include"
    kernel = "x86" if machine == "x86_64" else "riscv" if machine.startswith("riscv") else machine
    folders = (
        library / "include",
        libc / f"{machine}-linux-musl",
        libc / "generic-musl",
        libc / f"{kernel}-linux-any",
        libc / "any-linux-any",
    )
    return ("-nostdinc", *(word for folder in folders for word in ("-isystem", str(folder))))


@cache
def _cache_folder() -> Path:
    """Folder for libraries that is this user's alone; where another has its name, one for this process's life."""
    # Code from this folder is loaded and run: nobody else may write there.
    owner = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir(), f"polyloom-{owner}")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.stat()
    if os.name == "posix" and (status.st_uid != owner or status.st_mode & 0o022):
        kept = contextlib.ExitStack()
        atexit.register(kept.close)
        return kept.enter_context(temporary.temporary_folder())
    return folder


def clear_caches() -> None:
    """Looks for clang and for its folders anew."""
    for found in (_zig_path, _header_options, _cache_folder):
        found.cache_clear()
