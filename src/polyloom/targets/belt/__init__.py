# SPDX-License-Identifier: Apache-2.0
"""The belt machine: a specializer from functions in SSA form to bundles, and a model that reads only words."""
