# SPDX-License-Identifier: Apache-2.0
"""One source on several machines, side by side (docs/compare.md): one set of inputs, one count of the work, one
reference; a row per place, verified, or refused with its code."""
