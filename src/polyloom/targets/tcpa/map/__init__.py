# SPDX-License-Identifier: Apache-2.0
"""From equations to symbolic configurations: allocation, schedule, registers, routes (the paper, section 5)."""
