# SPDX-License-Identifier: Apache-2.0
"""Programs of the comparison, one list: the kernels of examples/kernels at the bounds of `bench polybench`, ten
functions in the manner of signal and neural libraries, and the layer of a transformer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.cli import examples
from polyloom.cli.bench.polybench import REASSOCIATED, SIZES

Value = int | float


@dataclass(frozen=True, slots=True)
class Listed:
    """Program of examples/: its `file` there, and the values of its sizes and scalars."""

    name: str
    file: str
    values: Mapping[str, Value]
    reassociate: bool = False

    @property
    def path(self) -> str:
        return str(examples.folder() / self.file)


_LIBRARY: Final[Mapping[str, Mapping[str, Value]]] = {
    "fir_q15": {"n": 64, "taps": 16},
    "biquad_cascade": {"sections": 4, "n": 64},
    "fft_stage": {"groups": 8, "half": 16},
    "correlate": {"n": 48, "m": 24},
    "matvec_s8": {
        "rows": 32, "columns": 32, "input_offset": 128, "output_offset": -3, "multiplier": 1340000000, "shift": 7,
    },
    "depthwise_s8": {"height": 8, "width": 8, "channels": 8, "input_offset": 128, "output_offset": -3, "shift": 7},
    "softmax": {"rows": 16, "columns": 24},
    "average_pool_s8": {"height": 8, "width": 8, "channels": 8, "low": -128, "high": 127},
    "hard_swish": {"n": 1024},
    "layer_norm": {"rows": 16, "columns": 24, "epsilon": 0.00001},
}  # fmt: skip
_ALL: Final = (
    *(Listed(name, f"kernels/{name}.py", sizes, name in REASSOCIATED) for name, sizes in SIZES.items()),
    *(Listed(name, f"library/{name}.c", values) for name, values in _LIBRARY.items()),
    Listed("transformer", "transformer/layer.c", {"tokens": 64, "start": 0}),
)


def programs() -> tuple[Listed, ...]:
    """Programs whose files there are."""
    return tuple(each for each in _ALL if (examples.folder() / each.file).is_file())
