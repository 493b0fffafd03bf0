# SPDX-License-Identifier: Apache-2.0
"""Forms of sources that any target may take: plans of equations, nests, functions in SSA form, and images of
programs."""
