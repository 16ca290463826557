# SPDX-License-Identifier: Apache-2.0
"""Real machines for tests: nodes booted by systemd, a Kubernetes control plane, a virtual machine, an OCI registry.

Each is a context manager that leaves no mount, process, cgroup or file behind.  `./dev node`, `./dev cluster` and
`./dev vm` start the same classes as the tests do.
"""
