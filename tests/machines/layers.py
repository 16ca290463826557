# SPDX-License-Identifier: Apache-2.0
"""A root in layers, in which programs of a test machine make additions to the machine's image."""

import shlex
import shutil

from . import image, programs
from .namespace import OWN_MOUNTS
from .shell import run

UNITS = "usr/lib/systemd/system"


class Layers:
    """Three layers: the plain root, tools for making the additions, and the additions to the image."""

    def __init__(self, scratch, tools=None):
        self.plain = image.debian_root()
        self.root, self.work, self.added = (scratch / name for name in ("root", "work", "added"))
        self.tools = tools or scratch / "tools"
        for folder in (self.root, self.work, self.added, self.tools / "usr/bin"):
            folder.mkdir(parents=True, exist_ok=True)

    def run(self, binds, *words):
        """Runs a command with all layers as its root.  `binds` is {place: (mount's options, source)}."""
        mounts = ['mount -t overlay overlay -o "$2" "$1"']
        mounts += [f'mount --rbind /{place} "$1/{place}"' for place in ("proc", "dev", "sys")]
        mounts += [f'mount -t tmpfs tmpfs "$1/{place}"' for place in ("run", "tmp", "var/tmp")]
        mounts += [f'mount {options} {shlex.quote(str(source))} "$1/{place}"'
                   for place, (options, source) in binds.items()]
        overlay = f"lowerdir={self.tools}:{self.plain},upperdir={self.added},workdir={self.work}"
        enter = ['root=$1', 'shift 2', 'exec chroot "$root" "$@"']
        return run(*OWN_MOUNTS, "sh", "-ec", "\n".join([*mounts, *enter]), "sh", self.root, overlay, *words)


def install(build, root):
    """Installs the build below `root`, and moves the files to the prefix of a package, /usr.

    If the plain root has Pintle's packages installed, only the module for dracut is unpacked from its package, because it
    depends on Ignition, which the plain root does not have.
    """
    if programs.are_installed():
        run("dpkg-deb", "--extract", programs.package("pintle-dracut"), root)
        return
    run("meson", "install", "-C", build, "--no-rebuild", "--strip", "--destdir", root)
    for place, below in (("usr/local", "usr"), ("lib", "usr/lib")):
        shutil.copytree(root / place, root / below, symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(root / place)
    for path in [*root.glob(f"{UNITS}/*.service"), *root.glob("usr/lib/dracut/modules.d/90pintle/*")]:
        path.write_text(path.read_text().replace("/usr/local/", "/usr/"))


def write(files, root):
    """Writes files below `root`: {path: text}."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
