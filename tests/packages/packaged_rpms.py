# SPDX-License-Identifier: Apache-2.0
"""The RPMs on a machine: repositories of them, and dnf and rpm in a machine that has neither.

No Fedora is at hand, so the machine is a Debian with a database of RPMs beside its own.  The package `debian-base` of
these tests provides the machine's parts of Debian under the names that Fedora uses: the libraries as rpm's own
generator finds them in the machine's root, and the packages with Debian's versions.  So dnf checks all dependencies,
except for `ignition`, which the machine does not have.  dnf and rpm come from this host; they run in the machine.
"""

import pathlib
import re
import shutil
import subprocess

from machines import image
from packaged_agent import PACKAGES

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RPM = SOURCE / "tests/packages/rpm"
PROGRAMS = ("pintle", "pintle-image", "pintle-dracut", "pintle-selinux", "pintle-controller")
# Fedora's names for packages of Debian that the test machines have.
DEBIAN_NAMES = {"/bin/bash": "bash", "/bin/sh": "dash", "dracut": "dracut", "libcurl(x86-64)": "libcurl4",
                "openssl-libs(x86-64)": "libssl3", "ostree": "ostree", "skopeo": "skopeo", "systemd": "systemd",
                "tzdata": "tzdata"}
# Fedora's presets disable all units but those that Fedora selects; Debian's would enable all.  On Fedora, the package of
# systemd has the triggers.
DEBIAN_BASE = """
Name: debian-base
Version: 12
Release: 1
Summary: What a test machine has of Debian
License: Apache-2.0
BuildArch: noarch
Provides: ignition rtld(GNU_HASH) {provides}
%description
The tests of RPMs use this package.
%install
mkdir -p %{{buildroot}}{presets}
echo 'disable *' >%{{buildroot}}{presets}/99-default-disable.preset
%transfiletriggerin -- /usr/lib/systemd/system
systemctl daemon-reload
%transfiletriggerpostun -- /usr/lib/systemd/system
systemctl daemon-reload
%files
{presets}/99-default-disable.preset
"""
# A machine that has SELinux also has this package.
DEBIAN_SELINUX = """
Name: debian-selinux
Version: 12
Release: 1
Summary: What a test machine with SELinux has of Debian
License: Apache-2.0
BuildArch: noarch
Provides: selinux-policy = 40 selinux-policy-base = 40 selinux-policy-targeted = 40 libselinux-utils policycoreutils
%description
The tests of RPMs use this package.
%files
"""
POLICY = "/usr/share/selinux/packages/targeted/pintle.pp.bz2"
# A root with the programs of this host, and with the machine's files below /machine.
IN_TOOLS = """
for name in bin lib lib64 sbin; do ln -sfn usr/$name /run/tools/$name; done
mkdir -p /run/tools/dev /run/tools/machine /run/tools/proc /run/tools/tmp /run/tools/var/log
mount --rbind /dev /run/tools/dev
mount --rbind /proc /run/tools/proc
mount --rbind / /run/tools/machine
exec chroot /run/tools "$@"
"""


def output(*words, **options):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8", **options).stdout


def provided_by_debian():
    """Returns what the test machines have, as packages of Fedora would provide it."""
    root = image.debian_root()
    libraries = "".join(f"{path}\n" for path in (root / "usr/lib").rglob("*.so*")
                        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF")
    provides = set(output("/usr/lib/rpm/elfdeps", "--provides", input=libraries).split("\n")) - {""}
    versions = dict(re.findall(r"(?m)^(\S+) (?:\d+:)?([^-\s]+)", output(
        "dpkg-query", f"--admindir={root}/var/lib/dpkg", "--show", "--showformat=${Package} ${Version}\n")))
    return sorted(provides | {f"{name} = {versions[package]}" if name[0] != "/" else name
                              for name, package in DEBIAN_NAMES.items()})


def build_spec(spec, folder, *options):
    """Builds the RPMs of a spec, and moves them into a folder."""
    file = folder / "test.spec"
    file.write_text(spec, encoding="utf-8")
    top = folder / "rpmbuild"
    subprocess.run(["rpmbuild", "-bb", "--quiet", "--build-in-place", "--nodeps", f"--load={RPM}/macros.d/macros.fedora",
                    "--define", f"_topdir {top}", "--define", "debug_package %{nil}", file],
                   cwd=SOURCE, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for package in top.glob("RPMS/*/*.rpm"):
        shutil.move(package, folder)
    shutil.rmtree(top)


def build_next(rpms, folder):
    """Builds the next release from the files of this one."""
    tree = folder / "tree"
    tree.mkdir()
    for name in PROGRAMS:
        files = subprocess.run(["rpm2cpio", rpms[name]], check=True, stdout=subprocess.PIPE).stdout
        subprocess.run(["cpio", "--extract", "--make-directories", "--unconditional", "--quiet"], input=files, cwd=tree, check=True)
    shutil.rmtree(tree / "usr/lib/.build-id")
    spec = (SOURCE / "packaging/pintle.spec").read_text(encoding="utf-8").replace("Release:        1", "Release: 2")
    before, rest = spec.split("\n%prep\n")
    scripts = rest[rest.index("\n# The package does not enable"):]
    link = "mkdir -p %{buildroot}/run/bin && ln -s /nowhere %{buildroot}/run/bin/machine-config-daemon"
    build_spec(f"{before}\n%install\ncp -a {tree}/. %{{buildroot}}\n{link}\n{scripts}", folder)
    shutil.rmtree(tree)


def make_repositories(rpms, folder):
    """Makes two repositories in a folder: one of the RPMs, and one of their next release, which differs in its number
    only.
    """
    for name in "first", "next":
        (folder / name).mkdir()
    provides = " ".join(provided_by_debian())
    build_spec(DEBIAN_BASE.format(provides=provides, presets="/usr/lib/systemd/system-preset"), folder / "first")
    build_spec(DEBIAN_SELINUX, folder / "first")
    for name, package in rpms.items():
        if name != "source":
            shutil.copy(package, folder / "first")
    build_next(rpms, folder / "next")
    for name in "first", "next":
        subprocess.run(["createrepo_c", "--quiet", folder / name], check=True)


def binds(repositories):
    """Returns what a machine has to see of this host: the repositories, and the programs dnf and rpm."""
    return {str(repositories): PACKAGES, "/usr": "/run/tools/usr"}


def run_tool(node, *words, check=True):
    return node.run("unshare", "--mount", "sh", "-ec", IN_TOOLS, "sh", *words, check=check)


def dnf(node, *words, repository="first"):
    """Runs dnf with one repository of these tests."""
    run_tool(node, "dnf", "--assumeyes", "--quiet", "--installroot=/machine", "--releasever=12",
             "--setopt=reposdir=/nowhere", "--setopt=install_weak_deps=False", "--nogpgcheck",
             f"--repofrompath=pintle,file:///machine{PACKAGES}/{repository}", *words)


def verify(node, *packages):
    """Returns what rpm finds to be different from the packages, or missing of their dependencies."""
    return run_tool(node, "rpm", "--root=/machine", "--verify", *packages, check=False).stdout


def releases(node, *packages):
    return run_tool(node, "rpm", "--root=/machine", "--query", "--queryformat=%{release} ", *packages).stdout.split()
