# SPDX-License-Identifier: Apache-2.0
"""Debugger over steppers: positions in time, breakpoints, conditions, where values came from, and the first wrong one
(docs/debugging.md). It knows no machine.
"""
