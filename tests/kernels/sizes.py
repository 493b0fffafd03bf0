# SPDX-License-Identifier: Apache-2.0
"""The sizes at which the kernels of examples/kernels are tested.

`MINI` are the bounds of PolyBench/C 4.2.1's MINI_DATASET, with fewer steps of time where a run would exceed about 20000
iterations, and bounds of that order for the kernels that are not from there. `PRIMES` divide by no number of elements.
"""

from __future__ import annotations

MINI: dict[str, dict[str, int]] = {
    "gemm": {"NI": 20, "NJ": 25, "NK": 30},
    "mm2": {"NI": 16, "NJ": 18, "NK": 22, "NL": 24},
    "mm3": {"NI": 16, "NJ": 18, "NK": 20, "NL": 22, "NM": 24},
    "atax": {"M": 38, "N": 42},
    "bicg": {"M": 38, "N": 42},
    "mvt": {"N": 40},
    "gemver": {"N": 40},
    "gesummv": {"N": 30},
    "syrk": {"M": 20, "N": 30},
    "syr2k": {"M": 20, "N": 30},
    "symm": {"M": 20, "N": 30},
    "trmm": {"M": 20, "N": 30},
    "doitgen": {"NQ": 8, "NR": 10, "NP": 12},
    "trisolv": {"N": 40},
    "lu": {"N": 40},
    "cholesky": {"N": 40},
    "jacobi1d": {"TSTEPS": 20, "N": 30},
    "jacobi2d": {"TSTEPS": 12, "N": 30},
    "heat3d": {"TSTEPS": 20, "N": 10},
    "seidel2d": {"TSTEPS": 14, "N": 40},
    "fdtd2d": {"TMAX": 11, "NX": 20, "NY": 30},
    "covariance": {"M": 28, "N": 32},
    "conv2d": {"N": 32, "M": 32},
    "fir": {"N": 64, "T": 16},
    "matvec": {"N": 32, "M": 32},
    "mttkrp": {"NI": 10, "NJ": 12, "NK": 10, "NL": 12},
    "smith_waterman": {"N": 32, "M": 32},
    "lcs": {"N": 32, "M": 32},
}
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
}
