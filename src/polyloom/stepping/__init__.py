# SPDX-License-Identifier: Apache-2.0
"""Sessions over steppers: positions in time with snapshots, the history of events, what the source stores, and prints.
They know no machine, and no commands.
"""
