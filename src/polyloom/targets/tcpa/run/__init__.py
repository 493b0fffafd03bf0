# SPDX-License-Identifier: Apache-2.0
"""From symbolic configurations to results: instantiation, the model, and what is told of a run."""
