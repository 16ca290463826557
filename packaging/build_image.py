#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the container image of pintle-controller, as `./dev image` does, without a network and a container engine.

The image has the program of the Debian package, the shared libraries that it needs, the authorities of ca-certificates,
the time zones, os-release, a user, the licences of all that, and a bill of materials (SPDX).  It has no shell and no
other program.  The files come from the Debian packages that are installed on this machine, and are compared with the
digests that dpkg has of them.  The same packages give the same image, bit for bit.
"""

import argparse
import dataclasses
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import urllib.parse

import spdx

TOP = pathlib.Path(__file__).resolve().parents[1]
OUTPUT = TOP / "build/image"
PROGRAM = "/usr/sbin/pintle-controller"
BILL = "/usr/share/pintle/sbom.spdx.json"
ZONES = "/usr/share/zoneinfo"
# The number is outside of the ranges of Debian's users.  The manifests need a number, since a kubelet cannot know
# whether a user with a name is root.
USER = 65532
PASSWD = f"pintle:x:{USER}:{USER}:pintle-controller:/nonexistent:/nonexistent\n"
GROUP = f"pintle:x:{USER}:\n"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# The names in OCI images of the architectures for which Debian has another name.
ARCHITECTURES = {"armhf": "arm", "i386": "386", "ppc64el": "ppc64le"}
TITLE = "pintle-controller"
DESCRIPTION = "Renders MachineConfigs, rolls them out, drains nodes, serves Ignition"


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def path_below_usr(path):
    """Returns a path as it is where /bin, /lib and the like are links into /usr; some packages name the links."""
    return re.sub(r"^/(s?bin|lib\w*)/", r"/usr/\1/", path)


# ---- packages -------------------------------------------------------------------------------------------------------

@dataclasses.dataclass(eq=False)
class Package:
    """A package of the bill of materials."""
    name: str
    version: str
    architecture: str
    source: str
    supplier: str
    copyright_file: bytes
    purl: str = ""    # Scanners find a package of a distribution by its package URL.


FIELDS = ("Package", "Version", "Architecture", "source:Package", "source:Version")


def installed_package(name):
    wanted = "\n".join(f"${{{field}}}" for field in FIELDS)
    values = run("dpkg-query", "--show", "--showformat", wanted, name).split("\n")
    name, version, architecture, source, source_version = values
    release = platform.freedesktop_os_release()
    distribution = release["ID"]
    quoted = "@".join(urllib.parse.quote(each, safe="") for each in (name, version))
    purl = f"pkg:deb/{distribution}/{quoted}?arch={architecture}&distro={distribution}-{release['VERSION_ID']}"
    return Package(name, version, architecture, f"built from the source package {source} {source_version}",
                   f"Organization: {release['NAME'].partition(' ')[0]}",
                   pathlib.Path(f"/usr/share/doc/{name}/copyright").read_bytes(), purl)


class Installed:
    """The installed packages: which of them has a file, and what dpkg knows about the file."""

    def __init__(self):
        self.packages = {}    # {name: Package}, those that package() has returned
        self._digests = {}
        self._owners = {}    # {folder: {path: name of a package}}

    def package(self, name):
        if name not in self.packages:
            self.packages[name] = installed_package(name)
            # The packages of a distribution have digests of all files but those that an administrator may edit.
            listed = run("dpkg-query", "--control-show", name, "md5sums")
            for digest, path in re.findall(r"(?m)^([0-9a-f]{32})  (.*)$", listed):
                self._digests[path_below_usr(f"/{path}")] = digest
        return self.packages[name]

    def owner(self, path):
        """Returns the package that a file belongs to."""
        folder = os.path.dirname(path)
        if folder not in self._owners:
            # One search for a folder is quicker than one for each file.  It fails if no file has one of the two forms.
            words = ["dpkg-query", "--search", f"{folder}/*", re.sub("^/usr/", "/", f"{folder}/*")]
            found = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   encoding="utf-8").stdout
            self._owners[folder] = {path_below_usr(place): name for name, place in
                                    re.findall(r"(?m)^([a-z0-9.+-]+)(?::\w+)?: (/.*)$", found)}
        name = self._owners[folder].get(path)
        if name is None:
            sys.exit(f"{path} belongs to no installed package; the image takes its files from Debian packages")
        return self.package(name)

    def read(self, path):
        """Returns the contents of a file of a package; it must be the file that the package has brought."""
        contents = pathlib.Path(path).read_bytes()
        if self._digests.get(path) != hashlib.md5(contents).hexdigest():
            sys.exit(f"{path} is not as its package has it; install the package again")
        return contents


class Deb:
    """The package file of pintle-controller."""

    def __init__(self, path):
        self.path = path
        with tempfile.TemporaryFile() as archive:
            subprocess.run(["dpkg-deb", "--fsys-tarfile", path], check=True, stdout=archive)
            archive.seek(0)
            with tarfile.open(fileobj=archive) as members:
                program = members.getmember(f".{PROGRAM}")
                self.program = members.extractfile(program).read()
                # The packages' own build gives the files the time of the commit.
                self.seconds = int(program.mtime)
                copyright_file = members.extractfile(f"./usr/share/doc/{TITLE}/copyright").read()
                changelog = members.extractfile(f"./usr/share/doc/{TITLE}/changelog.Debian.gz").read()
        # packaging/build_packages.py writes the commit.
        named = re.search(rb"Built from the commit ([0-9a-f]+)\.", gzip.decompress(changelog))
        self.commit = named[1].decode("ascii") if named else None
        listed = run("dpkg-deb", "--field", path, *FIELDS[:3], "Static-Built-Using")
        fields = dict(line.split(": ", 1) for line in listed.splitlines())
        self.package = Package(fields["Package"], fields["Version"], fields["Architecture"],
                               "built from Pintle's sources", "Organization: The Pintle authors", copyright_file)
        self.version = self.package.version.rpartition("-")[0]
        # Libraries whose code the program contains: [(source package, version)].
        self.inside = re.findall(r"(\S+) \(= (\S+)\)", fields.get("Static-Built-Using", ""))


# ---- the tree -------------------------------------------------------------------------------------------------------

class Tree:
    """The files of the image: {path: (package, contents)}, and links: {path: target}."""

    def __init__(self, installed):
        self.installed = installed
        self.files, self.links, self.programs = {}, {}, set()

    def add(self, path, package, contents):
        self.files[path] = (package, contents)

    def add_installed(self, path):
        """Adds a file of this machine, with each link that leads to it."""
        real = self.follow(path)
        if real not in self.files:
            package = self.installed.owner(real)    # The digests of its files are known from here on.
            self.add(real, package, self.installed.read(real))
        return real

    def follow(self, path):
        """Adds the links on the way to a file, also those to folders, and returns the file's own path."""
        done, remaining = "/", [part for part in path.split("/") if part]
        while remaining:
            part = remaining.pop(0)
            place = os.path.normpath(os.path.join(done, part))
            if os.path.islink(place):
                target = os.readlink(place)
                self.links[place] = target
                remaining = [*(each for each in target.split("/") if each), *remaining]
                done = "/" if target.startswith("/") else done
            else:
                done = place
        return done

    def folders(self):
        return sorted({str(parent) for path in (*self.files, *self.links)
                       for parent in pathlib.PurePosixPath(path).parents} - {"/"} - set(self.links))

    def mode(self, path):
        return 0o755 if path in self.programs else 0o644


# ---- shared libraries -----------------------------------------------------------------------------------------------

def libraries_of(path):
    """Returns the names of the libraries that a program or a library is linked with, or loads when it needs them.

    The program names the latter in ELF notes (src/base/dlopen_note.h).
    """
    linked = re.findall(r"\(NEEDED\) +Shared library: \[(.*)\]", run("readelf", "--dynamic", "--wide", path))
    notes = run("readelf", "--wide", "--string-dump=.note.dlopen", path) \
        if ".note.dlopen" in run("readelf", "--section-headers", "--wide", path) else ""
    loaded = [name for note in re.findall(r"\[\{.*\}\]", notes) for each in json.loads(note) for name in each["soname"]]
    return linked + loaded


def interpreter_of(program):
    return re.search(r"interpreter: (\S+)\]", run("readelf", "--program-headers", "--wide", program))[1]


def find_library(name):
    # The loader looks into these folders without any configuration.
    folders = [f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}", "/usr/lib", "/usr/lib64"]
    for folder in folders:
        if os.path.exists(f"{folder}/{name}"):
            return f"{folder}/{name}"
    sys.exit(f"found no {name} in {', '.join(folders)}; install the packages that {TITLE} depends on")


def add_libraries(tree, program):
    """Adds the libraries that the program needs, and those that these libraries need."""
    interpreter = interpreter_of(program)
    tree.programs.add(tree.add_installed(interpreter))
    waiting, known = libraries_of(program), set()
    while waiting:
        name = waiting.pop()
        if name not in known:
            known.add(name)
            waiting += libraries_of(tree.add_installed(find_library(name)))


# ---- what else a program expects ------------------------------------------------------------------------------------

def add_authorities(tree):
    """Adds a bundle of all authorities in ca-certificates.

    The bundle of this machine is not used, because an administrator may have changed it.
    """
    package = tree.installed.package("ca-certificates")
    paths = [path for path in run("dpkg-query", "--listfiles", package.name).splitlines()
             if path.startswith("/usr/share/ca-certificates/") and path.endswith(".crt")]
    bundle = b"".join(tree.installed.read(path).rstrip(b"\n") + b"\n" for path in sorted(paths))
    tree.add("/etc/ssl/certs/ca-certificates.crt", package, bundle)


def add_time_zones(tree):
    """Adds the time zones.  The folders posix/ and right/ have each zone again; a RolloutPolicy names no such copy."""
    tree.installed.package("tzdata")
    for path in run("dpkg-query", "--listfiles", "tzdata").splitlines():
        name = path.removeprefix(ZONES + "/")
        # The zone localtime is a setting of this machine.
        if name == path or name == "localtime" or name.startswith(("posix/", "right/")) or not os.path.isfile(path):
            continue
        if pathlib.Path(path).read_bytes()[:4] == b"TZif":
            real = tree.follow(path)
            tree.add(real, tree.installed.package("tzdata"), tree.installed.read(real))


def add_licences(tree):
    """Adds the licences of all packages, as most of them demand, and the texts that Debian has in one place."""
    for package in {package for package, _ in tree.files.values()} | {tree.installed.package("base-files")}:
        tree.add(f"/usr/share/doc/{package.name}/copyright", package, package.copyright_file)
    for path in run("dpkg-query", "--listfiles", "base-files").splitlines():
        if path.startswith("/usr/share/common-licenses/"):
            tree.add_installed(path)


def image_tree(deb):
    """Returns the files of the image, and its bill of materials."""
    tree = Tree(Installed())
    tree.add(PROGRAM, deb.package, deb.program)
    tree.programs.add(PROGRAM)
    with tempfile.NamedTemporaryFile() as program:
        program.write(deb.program)
        program.flush()
        add_libraries(tree, program.name)
    add_authorities(tree)
    add_time_zones(tree)
    tree.add_installed("/etc/os-release")
    add_licences(tree)
    image = Package(f"{TITLE}-image", deb.version, deb.package.architecture, "built by packaging/build_image.py",
                    deb.package.supplier, deb.package.copyright_file)
    tree.add("/etc/passwd", image, PASSWD.encode())
    tree.add("/etc/group", image, GROUP.encode())
    packages = sorted({package for package, _ in tree.files.values()} - {image}, key=lambda package: package.name)
    bill = spdx.document(image, packages, tree.files, {deb.package: deb.inside}, deb.seconds, BILL)
    tree.add(BILL, image, bill)
    return tree, bill


def layer_of(tree, seconds):
    """Returns the tree as a tar archive."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted({*tree.folders(), *tree.files, *tree.links}):
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.mtime, contents = seconds, b""
            if path in tree.files:
                contents = tree.files[path][1]
                entry.mode, entry.size = tree.mode(path), len(contents)
            elif path in tree.links:
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, tree.links[path], 0o777
            else:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry, io.BytesIO(contents))
    return written.getvalue()


# ---- the image ------------------------------------------------------------------------------------------------------

class Layout:
    """An OCI image layout: a folder with blobs that are named by their digests."""

    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "blobs/sha256").mkdir(parents=True)

    def add(self, kind, contents):
        """Adds a blob, and returns its descriptor."""
        digest = hashlib.sha256(contents).hexdigest()
        (self.folder / "blobs/sha256" / digest).write_bytes(contents)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(contents)}

    def add_json(self, kind, value):
        return self.add(kind, as_json(value))


def as_json(value):
    return json.dumps(value, indent=1, sort_keys=True).encode("ascii")


def labels(deb, revision, created):
    found = {"title": TITLE, "description": DESCRIPTION, "version": deb.version, "licenses": "Apache-2.0",
             "vendor": "The Pintle authors", "created": created, "revision": revision}
    return {f"org.opencontainers.image.{name}": value for name, value in found.items() if value}


def write_image(deb, revision, name, tree, folder):
    """Writes the OCI layout, and returns the descriptor of the image's manifest."""
    created = datetime.datetime.fromtimestamp(deb.seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    machine = {"architecture": ARCHITECTURES.get(deb.package.architecture, deb.package.architecture), "os": "linux"}
    layout = Layout(folder)
    layer = layer_of(tree, deb.seconds)
    compressed = layout.add("layer.v1.tar+gzip", gzip.compress(layer, compresslevel=6, mtime=0))
    config = layout.add_json("config.v1+json", {
        **machine, "created": created,
        "config": {"User": f"{USER}:{USER}", "Env": [f"PATH={PATH}"], "Entrypoint": [TITLE], "WorkingDir": "/",
                   "Labels": labels(deb, revision, created)},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "packaging/build_image.py"}]})
    manifest = layout.add_json("manifest.v1+json", {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
        "layers": [compressed], "annotations": labels(deb, revision, created)})
    # Tools for layouts use the first name, and containerd the second one.
    names = {"org.opencontainers.image.ref.name": deb.version, "io.containerd.image.name": f"{name}:{deb.version}"}
    (folder / "index.json").write_bytes(as_json({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{**manifest, "platform": machine, "annotations": names}]}))
    (folder / "oci-layout").write_bytes(as_json({"imageLayoutVersion": "1.0.0"}))
    return manifest, compressed["size"]


def write_archive(layout, archive_path, seconds):
    """Packs the layout into one file."""
    with tarfile.open(archive_path, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(layout.rglob("*")):
            entry = tarfile.TarInfo(str(path.relative_to(layout)))
            entry.mtime = seconds
            if path.is_dir():
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(entry)
            else:
                entry.size = path.stat().st_size
                with open(path, "rb") as contents:
                    archive.addfile(entry, contents)


def write_overlay(name, digest, overlay, folder):
    """Writes the overlay that runs exactly this image."""
    where = os.path.relpath(TOP / "deploy" / overlay, folder)
    (folder / "kustomization.yaml").write_text(
        "# Made by ./dev image.\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
        f"resources:\n  - {where}\nimages:\n  - {{name: {TITLE}, newName: {name}, digest: \"{digest}\"}}\n",
        encoding="utf-8")


def write_tree(tree, folder, seconds):
    """Writes the files of the image, for a tool that makes an image of them (packaging/Containerfile)."""
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(layer_of(tree, seconds))) as archive:
        archive.extractall(folder)


def built_package():
    """Builds the package of the commit that is checked out."""
    built = run(sys.executable, TOP / "packaging/build_packages.py").split()
    return next(TOP / path for path in built if pathlib.Path(path).name.startswith(f"{TITLE}_"))


def commit_of(deb):
    """Returns the commit that is checked out, which must be the one that the package is made of."""
    revision = run("git", "-C", TOP, "rev-parse", "HEAD").strip()
    if deb.commit != revision:
        found = f"the commit {deb.commit}" if deb.commit else "an unknown commit"
        sys.exit(f"{deb.path} is of {found}, and the commit {revision} is checked out; run ./dev image without --package")
    return revision


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=pathlib.Path, metavar="DEB",
                        help="the package pintle-controller, if it is built already")
    parser.add_argument("--name", default=TITLE, help="the name of the image, for instance registry.example/" + TITLE)
    parser.add_argument("--overlay", default="kubernetes", help="the folder of deploy/ that is to run the image")
    parser.add_argument("--output", type=pathlib.Path, default=OUTPUT, help="another folder than build/image")
    parser.add_argument("--tree", type=pathlib.Path, metavar="FOLDER", help="write only the files of the image, here")
    arguments = parser.parse_args()
    deb = Deb(arguments.package or built_package())
    tree, bill = image_tree(deb)
    if arguments.tree:
        write_tree(tree, arguments.tree, deb.seconds)
        return
    revision = commit_of(deb)
    output = arguments.output.resolve()
    layout, archive = output / "layout", output / f"{TITLE}-{deb.version}.tar"
    manifest, size = write_image(deb, revision, arguments.name, tree, layout)
    write_archive(layout, archive, deb.seconds)
    (output / f"{TITLE}-{deb.version}.spdx.json").write_bytes(bill)
    write_overlay(arguments.name, manifest["digest"], arguments.overlay, output)
    print(f"{archive}\n{arguments.name}@{manifest['digest']}")
    print(f"{size / 1e6:.1f} MB compressed, {sum(len(contents) for _, contents in tree.files.values()) / 1e6:.1f} MB "
          f"unpacked, {len(tree.files)} files of {len({package for package, _ in tree.files.values()})} packages",
          file=sys.stderr)


main()
