# SPDX-License-Identifier: Apache-2.0
"""C functions in SSA form to RISC-V executables: `compile.py` is the pipeline on one page."""
