# SPDX-License-Identifier: Apache-2.0
"""Source forms that any target may take: plans, nests, functions in SSA form, images of programs."""
