# SPDX-License-Identifier: Apache-2.0
"""Include path of a low-level kernel: our shims, the vendor's headers as they lie in the `ttnn` wheel or in a checkout,
and the headers of this package (docs/targets/tensix-llk.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from polyloom.targets.tensix.place import include
from polyloom.targets.tensix.words.isa import Member

_HERE: Final = Path(__file__).parent / "include"
_SFPI: Final = Path(__file__).parents[1] / "sfpi" / "include"
LIBRARIES: Final[Mapping[Member, str]] = {"wormhole": "tt_llk_wormhole_b0", "blackhole": "tt_llk_blackhole"}
"""Folder of the library of low-level kernels of each member."""
_CKERNELS: Final[Mapping[Member, str]] = {"wormhole": "wormhole_b0", "blackhole": "blackhole"}
_OWN: Final = ("llk_lib", "common/inc", "common/inc/sfpu")
_OF_TESTS: Final = ("common", "tools/include", "tests/helpers/include")
_OTHERS: Final = ("tt_llk_wormhole_b0", "tt_llk_blackhole", "tt_llk_quasar")


def include_path(folders: Sequence[str], member: Member) -> tuple[str, ...]:
    """Folders that are searched, the user's first where they are plain ones; a checkout among them stands for all of
    its folders that the kernels of the member need. Without any, the installed wheel is used, if there is one.
    """
    # Shims come before the vendor's folders: its headers ask for names that the wheel does not have.
    roots = [(folder, library_root(Path(folder))) for folder in folders]
    plain = [folder for folder, root in roots if root is None]
    found = [root for _, root in roots if root is not None] or [*_find_installed()]
    vendor = [path for root in found for path in vendor_folders(root, member)]
    return (*plain, str(_HERE), str(_SFPI / "std"), str(_SFPI), *vendor, include())


def library_root(folder: Path) -> Path | None:
    """Root of the library of low-level kernels in a checkout of it, of tt-metal, or of an unpacked wheel."""
    places = (folder, folder / "tt-llk", folder / "tt_metal" / "tt-llk", folder / "ttnn" / "tt_metal" / "tt-llk")
    return next((place for place in places if any((place / name).is_dir() for name in _OTHERS)), None)


def _find_installed() -> Iterator[Path]:
    spec = find_spec("ttnn")
    for folder in (spec and spec.submodule_search_locations) or ():
        if (root := library_root(Path(folder))) is not None:
            yield root


def vendor_folders(root: Path, member: Member) -> Iterator[str]:
    """Folders of the library and, where it lies within tt-metal, of the headers beside it."""
    # A checkout of the library alone has no headers of the hardware beside it: folders that are not there are left out.
    metal, ckernels = root.parent, _CKERNELS[member]
    hardware = metal / "hw" / "inc" / "internal" / "tt-1xx" / member
    places = [root / LIBRARIES[member] / name for name in _OWN]
    places += [root / name for name in _OF_TESTS]
    places += [metal / "hw" / "inc", hardware, hardware / f"{ckernels}_defines", metal / "hostdevcommon" / "api"]
    api = metal / "hw" / "ckernels" / ckernels / "metal" / "llk_api"
    yield from (str(place) for place in (*places, api, api / "llk_sfpu") if place.is_dir())


def find_other_architecture(folders: Sequence[str], name: str, member: Member) -> str | None:
    """Library of another architecture that has a header of this name, where the member's has none."""
    roots = [
        root for root in (*(library_root(Path(folder)) for folder in folders), *_find_installed()) if root is not None
    ]
    own = {LIBRARIES[member], _CKERNELS[member]}
    for root in roots:
        api = root.parent / "hw" / "ckernels"
        places = {library: [root / library / folder for folder in _OWN] for library in _OTHERS}
        places |= {f"{other}": [api / other / "metal" / "llk_api"] for other in _CKERNELS.values()}
        for library, searched in places.items():
            if library not in own and any((place / name).is_file() for place in searched):
                return library
    return None
