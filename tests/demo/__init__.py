# SPDX-License-Identifier: Apache-2.0
"""The main job, on real machines, as a newcomer sees it; `./dev demo` runs it."""
