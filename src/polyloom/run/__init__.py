# SPDX-License-Identifier: Apache-2.0
"""One way to run on every target: inputs are made up and checked, the oracles run, outputs are compared."""
