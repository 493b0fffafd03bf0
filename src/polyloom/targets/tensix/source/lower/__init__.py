# SPDX-License-Identifier: Apache-2.0
"""Passes of vector kernels in SSA form: contraction, predication, selection, to machine instructions."""
