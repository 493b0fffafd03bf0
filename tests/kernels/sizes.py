# SPDX-License-Identifier: Apache-2.0
"""The sizes at which the kernels of examples/kernels are tested: `MINI` are those of `polyloom bench polybench`,
`PRIMES` divide by no number of elements."""

from __future__ import annotations

from polyloom.cli.bench.polybench import SIZES

MINI = {name: dict(sizes) for name, sizes in SIZES.items()}
PRIMES: dict[str, dict[str, int]] = {
    "gemm": {"NI": 7, "NJ": 11, "NK": 13},
    "mm2": {"NI": 7, "NJ": 11, "NK": 13, "NL": 5},
    "mm3": {"NI": 7, "NJ": 11, "NK": 13, "NL": 5, "NM": 17},
    "atax": {"M": 11, "N": 13},
    "bicg": {"M": 11, "N": 13},
    "mvt": {"N": 13},
    "gemver": {"N": 13},
    "gesummv": {"N": 13},
    "syrk": {"M": 7, "N": 13},
    "syr2k": {"M": 7, "N": 13},
    "symm": {"M": 11, "N": 7},
    "trmm": {"M": 11, "N": 7},
    "doitgen": {"NQ": 5, "NR": 7, "NP": 11},
    "trisolv": {"N": 17},
    "lu": {"N": 13},
    "cholesky": {"N": 13},
    "jacobi1d": {"TSTEPS": 7, "N": 23},
    "jacobi2d": {"TSTEPS": 5, "N": 13},
    "heat3d": {"TSTEPS": 3, "N": 7},
    "seidel2d": {"TSTEPS": 5, "N": 13},
    "fdtd2d": {"TMAX": 5, "NX": 11, "NY": 13},
    "covariance": {"M": 11, "N": 13},
    "conv2d": {"N": 13, "M": 11},
    "fir": {"N": 23, "T": 7},
    "matvec": {"N": 13, "M": 11},
    "mttkrp": {"NI": 5, "NJ": 7, "NK": 11, "NL": 3},
    "smith_waterman": {"N": 13, "M": 11},
    "lcs": {"N": 13, "M": 11},
    "floyd_warshall": {"N": 7},
    "gramschmidt": {"M": 7, "N": 5},
    "durbin": {"N": 11},
}
