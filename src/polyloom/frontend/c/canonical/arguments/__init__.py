# SPDX-License-Identifier: Apache-2.0
"""Arguments of C functions as scalars and arrays: promotion of structures and variables, copies of sizes."""
