# SPDX-License-Identifier: Apache-2.0
"""One way to run on every target: inputs are checked and made up, the program runs, oracles run, outputs are
compared."""
