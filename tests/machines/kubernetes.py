# SPDX-License-Identifier: Apache-2.0
"""The programs of a Kubernetes control plane, built from the source package that the distribution itself ships.

Debian packages kubectl but not the servers, while its source package holds them all.  The build needs nothing but
Debian packages, and kubectl is built along so that it has the servers' version.  This file is the recipe: changing it
makes the programs anew.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

from . import cache, shell

VERSION = "1.20.2"
PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")

# The vendored reflect2 1.0.1 crashes on custom resources when compiled by Go 1.18 or later.
_REFLECT2 = pathlib.Path("github.com/modern-go/reflect2")
_FIXED_REFLECT2 = pathlib.Path("/usr/share/gocode/src") / _REFLECT2

_PROGRESS_EVERY = 15    # seconds


def programs():
    """The folder with the PROGRAMS, built once in some minutes."""
    return cache.made_once("kubernetes", cache.recipe_key(pathlib.Path(__file__)), _make)


def _make(folder):
    shell.need("apt-get", "dpkg-source", "go", "make", "rsync", "jq", "which")
    if not _FIXED_REFLECT2.is_dir():
        raise RuntimeError("needed and not installed: golang-github-modern-go-reflect2-dev (run `./dev deps`)")
    work = folder / "work"
    work.mkdir(parents=True)
    source = work / "go/src/k8s.io/kubernetes"
    source.parent.mkdir(parents=True)
    _fetch_source(work / "apt", source)
    shutil.rmtree(source / "vendor" / _REFLECT2)
    shutil.copytree(_FIXED_REFLECT2, source / "vendor" / _REFLECT2)
    _build(work, source)
    for program in PROGRAMS:
        (source / "_output/bin" / program).rename(folder / program)
    shutil.rmtree(work)
    _check_version(folder)


def _check_version(folder):
    printed = shell.run(folder / "kube-apiserver", "--version").stdout.strip()
    if printed != f"Kubernetes v{VERSION}":
        raise RuntimeError(f"the source package gave {printed!r}, the tests were written for v{VERSION}")


def _fetch_source(apt, source):
    """Fetches and unpacks the source package; apt checks it as it checks all that it fetches."""
    options = _source_only_apt(apt)
    print("  fetching the source package", file=sys.stderr, flush=True)
    shell.run("apt-get", "-q", *options, "update")
    shell.run("apt-get", "-q", *options, "source", "--only-source", "kubernetes", cwd=apt)
    unpacked = [path for path in apt.glob("kubernetes-*") if path.is_dir()]
    if len(unpacked) != 1:
        raise RuntimeError(f"the source package unpacked to {unpacked}, not to one folder")
    unpacked[0].rename(source)


def _source_only_apt(apt):
    """Options for an apt that knows the sources in the machine's own archives, and has its state in the folder APT."""
    parts = apt / "sources.list.d"
    for made in (parts, apt / "lists/partial", apt / "cache/archives/partial"):
        made.mkdir(parents=True)
    for number, path in enumerate(_machines_source_lists()):
        text = path.read_text(encoding="utf-8")
        convert = sources_of_stanzas if path.suffix == ".sources" else sources_of_lines
        (parts / f"{number}{path.suffix}").write_text(convert(text), encoding="utf-8")
    settings = {"Dir::Etc::SourceList": apt / "none", "Dir::Etc::SourceParts": parts, "Dir::Cache": apt / "cache",
                "Dir::State::Lists": apt / "lists",
                # The user _apt could not enter the folders of the one who builds.
                "APT::Sandbox::User": ""}
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def _machines_source_lists():
    told = shell.run("apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d").stdout
    where = {name: pathlib.Path(value.strip("'")) for name, value in (line.split("=", 1) for line in told.splitlines())}
    beside = sorted(path for path in where["PARTS"].glob("*") if path.suffix in (".list", ".sources"))
    return [path for path in (where["LIST"], *beside) if path.is_file()]


def sources_of_lines(text):
    """Turns `deb ARCHIVE ...` into `deb-src ARCHIVE ...`."""
    lines = (line.split(maxsplit=1) for line in text.splitlines())
    archives = (words[1] for words in lines if len(words) == 2 and words[0] in ("deb", "deb-src"))
    return "".join(f"deb-src {archive}\n" for archive in dict.fromkeys(archives))


def sources_of_stanzas(text):
    """Turns `Types: deb` into `Types: deb-src`."""
    return "".join("Types: deb-src\n" if line.lower().startswith("types:") else line
                   for line in text.splitlines(keepends=True))


def _build(work, source):
    """Builds with the least of the caller's environment, and without the servers' code for public clouds: no test has a
    cloud.

    The compilers stay in the session of the caller, because Linux may share the processors among sessions first, and
    then priorities count only within a session.
    """
    goals = " ".join(f"cmd/{program}" for program in PROGRAMS)
    flags = ["GOFLAGS=-v -tags=providerless", "GOLDFLAGS=-s -w"]
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": work, "LC_ALL": "C.UTF-8", "TMPDIR": work,
                   "GOENV": "off", "GO111MODULE": "off", "GOPATH": work / "go", "GOCACHE": work / "gocache",
                   "CGO_ENABLED": "0"}
    with open(work / "log", "w+", encoding="utf-8", errors="replace") as log:
        with subprocess.Popen(["make", f"WHAT={goals}", *flags], cwd=source, env=environment,
                              stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                              process_group=0) as make, _ended_with_us(make):
            _watch(make, work / "log")
        if make.returncode != 0:
            raise RuntimeError("building Kubernetes failed:\n" + "".join(_lines(work / "log")[-40:]))


@contextlib.contextmanager
def _ended_with_us(make):
    # The compilers are children of children: the whole process group ends when the build is given up.
    try:
        yield
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(make.pid, 9)
        raise


def _watch(make, log):
    """Waits for the build's end and shows now and then how far it is."""
    started = time.monotonic()
    while True:
        try:
            make.wait(_PROGRESS_EVERY)
            return
        except subprocess.TimeoutExpired:
            packages = [line.strip() for line in _lines(log) if "/" in line and " " not in line.strip()]
            latest = packages[-1].removeprefix("k8s.io/kubernetes/") if packages else "preparing"
            print(f"  {time.monotonic() - started:4.0f} s, {len(packages)} packages compiled: {latest}",
                  file=sys.stderr, flush=True)


def _lines(log):
    return log.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
