# SPDX-License-Identifier: Apache-2.0
"""Installs, upgrades and removes the RPMs on a booted machine that has nothing of the build tree.

No Fedora is at hand, so the machine is a Debian with a database of RPMs beside its own.  The package `debian-base` of
these tests provides the machine's parts of Debian under the names that Fedora uses: the libraries as rpm's own
generator finds them in the machine's root, and the packages with Debian's versions.  So dnf checks all dependencies,
except for `ignition`, which the machine does not have.  dnf and rpm come from this host; they run in the machine.
"""

import pathlib
import re
import shutil
import subprocess

import pytest

from machines import image
from machines.node import Node
from packaged_agent import (PACKAGES, agent_pid, apply_config, assert_nothing_has_begun, expect_kubelet_without_package,
                            make_change_that_waits_for_reboot, start_kubelet, start_with_config, wait_until_settled)

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


@pytest.fixture(scope="module")
def repositories(rpms, tmp_path_factory):
    """A folder with two repositories: one of the RPMs, and one of their next release, which differs in its number only."""
    folder = tmp_path_factory.mktemp("repositories")
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
    return folder


@pytest.fixture
def node(repositories, monkeypatch):
    """A machine without the build folder."""
    monkeypatch.delenv("PINTLE_BUILD")
    with Node(plain=True, binds={str(repositories): PACKAGES, "/usr": "/run/tools/usr"}) as machine:
        yield machine


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


@pytest.fixture
def with_config(node):
    """A machine whose agent was installed by the RPM, and has put a config in place."""
    dnf(node, "install", "pintle")
    start_with_config(node)
    return node


def test_all_rpms_are_installed_upgraded_and_removed_and_nothing_begins_by_itself(node):
    dnf(node, "install", "debian-selinux", *PROGRAMS,
        "pintle-debuginfo", "pintle-image-debuginfo", "pintle-controller-debuginfo")
    for program in "pintle", "pintle-controller":
        assert node.run(program, "version").stdout.startswith(f"{program} ")
    assert_nothing_has_begun(node)
    needed = node.run("systemctl", "show", "--property=Wants", "--value", "sysinit.target").stdout.split()
    assert "pintle-recover-files.service" in needed
    assert node.run("readlink", "--canonicalize", "/run/bin/machine-config-daemon").stdout.strip() == "/usr/bin/pintle"
    assert verify(node, *PROGRAMS, "pintle-debuginfo") == ""
    # A debugger finds the debuginfo of each program by its build ID; no link leads to nothing.
    debug_files = node.run("find", "/usr/lib/debug/.build-id", "-name", "*.debug").stdout.split()
    assert len(debug_files) == 4
    assert node.run("find", "-L", "/usr/lib/debug/.build-id", "/usr/lib/.build-id", "-type", "l").stdout == ""
    dnf(node, "upgrade", *PROGRAMS, repository="next")
    assert releases(node, *PROGRAMS) == ["2"] * len(PROGRAMS)
    assert_nothing_has_begun(node)
    assert verify(node, *PROGRAMS) == ""
    dnf(node, "remove", "pintle*")
    left = node.run("find", "/usr", "/etc", "/run/bin", "-name", "*pintle*", "-o", "-name", "machine-config-daemon")
    assert left.stdout == ""


def test_a_machine_with_selinux_gets_the_policy_with_the_package(node):
    dnf(node, "install", "pintle")
    assert node.run("test", "-e", POLICY, check=False).returncode
    dnf(node, "remove", "pintle")
    # The machine's kernel has no SELinux, so semodule is replaced by a program that records its calls.
    node.run("mkdir", "--parents", "/etc/selinux/targeted/contexts/files")
    node.run("touch", "/etc/selinux/targeted/contexts/files/file_contexts")
    node.run("tee", "/etc/selinux/config", input="SELINUX=enforcing\nSELINUXTYPE=targeted\n")
    node.run("tee", "/usr/sbin/semodule", input="#!/bin/sh\necho \"$@\" >>/root/semodule\n")
    node.run("chmod", "+x", "/usr/sbin/semodule")
    dnf(node, "install", "debian-selinux", "pintle")
    node.run("test", "-s", POLICY)
    dnf(node, "remove", "pintle-selinux", "pintle")
    assert node.run("cat", "/root/semodule").stdout.splitlines() == [
        f"--noreload --store=targeted --priority=200 --install={POLICY}",
        "--noreload --store=targeted --priority=200 --remove=pintle"]


def test_presets_of_the_machine_enable_the_agent(node):
    node.run("mkdir", "--parents", "/etc/systemd/system-preset")
    node.run("tee", "/etc/systemd/system-preset/50-node.preset",
             input="enable pintle-recover.service\nenable pintled.service\n")
    dnf(node, "install", "pintle")
    enabled = [node.run("systemctl", "is-enabled", unit, check=False).stdout.strip()
               for unit in ("pintle-recover.service", "pintled.service", "pintle-firstboot.service")]
    assert enabled == ["enabled", "enabled", "disabled"]
    assert agent_pid(node) == "0"


def test_an_upgrade_restarts_the_agent_and_keeps_its_config(with_config):
    apply_config(with_config, ("/etc/managed", "newer"), ("/etc/added", "1"))
    assert verify(with_config, "pintle") == ""
    before = agent_pid(with_config)
    dnf(with_config, "upgrade", "pintle", repository="next")
    assert releases(with_config, "pintle") == ["2"]
    assert agent_pid(with_config) not in (before, "0")
    wait_until_settled(with_config)
    assert with_config.run("cat", "/etc/managed").stdout == "newer"
    apply_config(with_config, ("/etc/managed", "newest"))
    assert verify(with_config, "pintle") == ""


def test_what_a_config_has_put_in_place_stays_when_the_package_goes(with_config):
    dnf(with_config, "remove", "pintle")
    assert agent_pid(with_config) == "0"
    assert with_config.run("find", "/etc/systemd/system", "-name", "pintle*").stdout == ""
    assert with_config.run("cat", "/etc/managed").stdout == "new"
    with_config.run("test", "-e", "/var/lib/pintle")
    assert with_config.run("systemctl", "--failed", "--quiet").stdout == ""
    # The package that is installed again continues where the removed one stopped, once its units are enabled again.
    dnf(with_config, "install", "pintle")
    with_config.run("systemctl", "enable", "--now", "pintle-recover.service", "pintled.service")
    wait_until_settled(with_config)
    apply_config(with_config, ("/etc/managed", "newer"))


def test_the_kubelet_keeps_running_and_can_restart_when_the_package_is_removed(node):
    dnf(node, "install", "pintle")
    start_kubelet(node)
    dnf(node, "remove", "pintle")
    assert node.run("find", "/etc/systemd/system", "-name", "pintle*").stdout == ""
    expect_kubelet_without_package(node)


def test_a_change_that_waits_for_a_reboot_keeps_the_package(node):
    dnf(node, "install", "pintle")
    make_change_that_waits_for_reboot(node)
    for package in "pintle", "pintle-image":
        dnf(node, "install", package)
        # Unlike rpm, dnf prints no output of scriptlets when it is quiet.
        removed = run_tool(node, "rpm", "--root=/machine", "--erase", package, check=False)
        output = removed.stdout + removed.stderr
        assert removed.returncode and "waits for a reboot" in output and f"{package} stays installed" in output, output
        assert releases(node, package) == ["1"]
    node.run("pintle", "recover", "--give-up")
    dnf(node, "remove", "pintle")
    assert node.run("test", "-e", "/etc/waiting", check=False).returncode


def test_rpmlint_finds_nothing_but_what_rpmlint_toml_accepts(rpms):
    found = subprocess.run(["rpmlint", f"--config={RPM}/rpmlint.toml", *rpms.values(),
                            SOURCE / "packaging/pintle.spec"], stdout=subprocess.PIPE, encoding="utf-8", check=False)
    assert found.returncode == 0, found.stdout
    assert re.search(r"\b10 packages and 1 specfiles checked; 0 errors, 0 warnings", found.stdout), found.stdout
