# SPDX-License-Identifier: Apache-2.0
"""Vector kernels out of SSA form: variables, schedules, registers, replays, words."""
