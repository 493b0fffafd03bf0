# SPDX-License-Identifier: Apache-2.0
"""Comparison of machines (docs/compare.md): one source on several machines, side by side; one set of inputs, one count
of the work, one reference; a row per place, verified, or refused with its code.
"""
