# SPDX-License-Identifier: Apache-2.0
"""What is shorter where results are stored in 16 bits: functions as accurate as these formats, and vector kernels that
take two vectors at a time."""
