# SPDX-License-Identifier: Apache-2.0
"""Image form: files that already are programs, ELF or raw words; the target knows what they take and give."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from os.path import exists  # Path.exists raises for a name that is too long
from pathlib import Path
from typing import Any, Final, cast

from polyloom import files, frontend
from polyloom.diagnostics import input_error
from polyloom.ir.signature import Signature
from polyloom.targets.subject import Form, Subject, Written

# A path may itself contain an @, so that a file that exists is never split.
_AT: Final = re.compile(r"(.+)@(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})", re.DOTALL)
ELF: Final = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class Image:
    """Image file; `address` is where the user places it, None where the file says it itself."""

    path: str
    data: bytes
    address: int | None = None

    @property
    def is_elf(self) -> bool:
        return self.data.startswith(ELF)


def read_image(path: str, bytes_of: Callable[[str], bytes] = files.read) -> Image:
    """Reader of `FILE`, or `FILE@ADDRESS` for raw words. Errors: PL0807, PL0810."""
    found = _AT.fullmatch(path)
    if found is None or exists(path):
        return Image(path, bytes_of(path))
    image = Image(found[1], files.read(found[1]), int(found[2], 0))
    if image.is_elf:
        raise input_error(
            "PL0810", f"'{image.path}' is an ELF file, which says itself where it stands", help=f"write {image.path}"
        )
    return image


def image_path(path: str) -> str:
    """`FILE` of `FILE@ADDRESS`."""
    found = _AT.fullmatch(path)
    return path if found is None or exists(path) else found[1]


def _accepts(written: Written) -> bool:
    """Whether this is an image, several images, or a path of no source."""
    value = written.value
    if isinstance(value, Image):
        return True
    if isinstance(value, tuple) and value:
        return all(isinstance(image, Image) for image in cast("tuple[object, ...]", value))
    path = written.path
    return path is not None and not path.endswith(frontend.SOURCE_FILES)


def _load(written: Written, place: Any, options: Any) -> Subject:
    """Subject of images; its signature is open, because arguments have no names in them."""
    del place, options
    value = written.value
    images = (
        (value,)
        if isinstance(value, Image)
        else (read_image(str(value)),)
        if written.path is not None
        else tuple(value)
    )
    name = Path(images[0].path).stem
    return Subject("image", images, images[0].path, Signature(name, (), (), (), is_open=True))


IMAGE: Final = Form("image", "a program of other tools (ELF, or raw words as FILE@ADDRESS)", _accepts, _load)
