# SPDX-License-Identifier: Apache-2.0
"""Execution on every target: inputs are made up and checked, the oracles run, outputs are compared."""
