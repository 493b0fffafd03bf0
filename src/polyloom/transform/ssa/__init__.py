# SPDX-License-Identifier: Apache-2.0
"""Functions in SSA form to functions in SSA form (`construct`, `simplify`, `ifconvert`), and out of it (`destruct`)."""
