# SPDX-License-Identifier: Apache-2.0
"""Makes OCI images of an operating system, without a container runtime.

An image consists of a base layer, which is a whole tree, and layers that add files or hide files of lower ones.
"""

import dataclasses
import hashlib
import io
import os
import pathlib
import stat
import tarfile
import tempfile

from . import shell


@dataclasses.dataclass
class Layer:
    """The changes of a layer to the tree below it; paths are relative to the root."""
    files: dict = dataclasses.field(default_factory=dict)    # path: content
    removed: list = dataclasses.field(default_factory=list)
    emptied: list = dataclasses.field(default_factory=list)    # Directories whose lower contents are hidden.


def make_image(layout, tag, tree, labels=None):
    """Makes the image TAG with all of TREE as its only layer, in the OCI layout in the folder LAYOUT."""
    shell.need("umoci", "tar")
    if not pathlib.Path(layout).exists():
        shell.run("umoci", "init", "--layout", layout)
    shell.run("umoci", "new", "--image", f"{layout}:{tag}")
    with tempfile.TemporaryDirectory(prefix="pintle-layer-") as folder:
        archive = pathlib.Path(folder) / "layer.tar"
        shell.run("tar", "-C", tree, "--sort=name", "--numeric-owner", "--xattrs", "--xattrs-include=*", "-cf", archive,
                  ".")
        shell.run("umoci", "raw", "add-layer", "--image", f"{layout}:{tag}", archive)
    _label(layout, tag, labels)


def derive_image(layout, base, tag, layer, labels=None):
    """Makes the image TAG from the image BASE of the same layout and one more layer."""
    shell.need("umoci")
    with tempfile.TemporaryDirectory(prefix="pintle-layer-") as folder:
        archive = pathlib.Path(folder) / "layer.tar"
        archive.write_bytes(_archive_of(layer))
        shell.run("umoci", "raw", "add-layer", "--image", f"{layout}:{base}", "--tag", tag, archive)
    _label(layout, tag, labels)


def pack_commit(layout, tag, repository, commit, layers=3, labels=None, change=lambda number, entries: entries):
    """Makes the image TAG from an OSTree commit, as `ostree container encapsulate` does: the first layer has the
    metadata objects, and the others have the files.  REPOSITORY is a bare repository with only this commit.  `change` may
    alter the entries of a layer, which are pairs of a TarInfo and contents."""
    objects = sorted(pathlib.Path(repository).glob("objects/*/*"))
    chunks = [[path for path in objects if path.suffix in (".commit", ".dirtree", ".dirmeta")]]
    files = [path for path in objects if path.suffix == ".file"]
    chunks += [files[number::layers - 1] for number in range(layers - 1)]
    if not pathlib.Path(layout).exists():
        shell.run("umoci", "init", "--layout", layout)
    shell.run("umoci", "new", "--image", f"{layout}:{tag}")
    with tempfile.TemporaryDirectory(prefix="pintle-layer-") as folder:
        archive = pathlib.Path(folder) / "layer.tar"
        for number, chunk in enumerate(chunks):
            with tarfile.open(archive, mode="w", format=tarfile.GNU_FORMAT) as written:
                for entry, contents in change(number, [entry for path in chunk for entry in _packed(path)]):
                    written.addfile(entry, io.BytesIO(contents))
            last = hashlib.sha256(archive.read_bytes()).hexdigest()
            shell.run("umoci", "raw", "add-layer", "--image", f"{layout}:{tag}", archive)
    _label(layout, tag, {"ostree.commit": commit, "ostree.final-diffid": f"sha256:{last}", **(labels or {})})


def _packed(path):
    """Returns an object's entries in a layer; the extended attributes of a file come before it."""
    place = "sysroot/ostree/repo/objects/"
    name, status = f"{place}{path.parent.name}/{path.name}", path.lstat()
    if path.suffix != ".file":
        return [_entry(name, path.read_bytes())]
    attributes = _attributes({key: os.getxattr(path, key, follow_symlinks=False)
                              for key in os.listxattr(path, follow_symlinks=False)})
    digest = hashlib.sha256(attributes).hexdigest()
    kept = f"{place}{digest[:2]}/{digest[2:]}.file-xattrs"
    contents = b"" if path.is_symlink() else path.read_bytes()
    file = _entry(name, contents, mode=stat.S_IMODE(status.st_mode), uid=status.st_uid, gid=status.st_gid)
    if path.is_symlink():
        file[0].type, file[0].linkname = tarfile.SYMTYPE, os.readlink(path)
    return [_entry(kept, attributes), _entry(f"{name}-xattrs-link", b"", type=tarfile.LNKTYPE, linkname=kept), file,
            _entry(f"usr/share/{path.name}", b"", type=tarfile.LNKTYPE, linkname=name)]


def _entry(name, contents, **values):
    entry = tarfile.TarInfo(name)
    entry.size = len(contents)
    for key, value in values.items():
        setattr(entry, key, value)
    return entry, contents


def _attributes(values):
    """Returns a GVariant of the type a(ayay)."""
    pairs = []
    for key, value in sorted(values.items()):
        name = key.encode() + b"\0"
        pairs.append(_framed(name + value, [len(name)]))
    ends = [sum(map(len, pairs[:count + 1])) for count in range(len(pairs))]
    return _framed(b"".join(pairs), ends)


def _framed(contents, ends):
    """Appends the offsets of the parts' ends, in the smallest size that can hold them."""
    size = next(size for size in (1, 2, 4, 8) if len(contents) + size * len(ends) < 1 << (8 * size))
    return contents + b"".join(end.to_bytes(size, "little") for end in ends)


def _label(layout, tag, labels):
    words = [f"--config.label={name}={value}" for name, value in (labels or {}).items()]
    if words:
        shell.run("umoci", "config", "--image", f"{layout}:{tag}", *words)


def _archive_of(layer):
    """Returns the tar archive of a layer.

    A layer hides a file by an empty file .wh.NAME beside it, and the contents of a directory by .wh..wh..opq in it.
    """
    files = {path: content if isinstance(content, bytes) else content.encode() for path, content in layer.files.items()}
    for path in map(pathlib.PurePosixPath, layer.removed):
        files[str(path.with_name(f".wh.{path.name}"))] = b""
    for path in layer.emptied:
        files[f"{path}/.wh..wh..opq"] = b""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for folder in sorted({str(parent) for path in files for parent in pathlib.PurePosixPath(path).parents} - {"."}):
            entry = tarfile.TarInfo(f"./{folder}")
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for path, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"./{path}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return written.getvalue()
