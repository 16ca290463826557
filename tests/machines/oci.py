# SPDX-License-Identifier: Apache-2.0
"""OCI images of an operating system, made without a container runtime.

An image is a base layer, which is a whole tree, and layers on it that add files and hide some of those below.
"""

import dataclasses
import io
import pathlib
import tarfile
import tempfile

from . import shell


@dataclasses.dataclass
class Layer:
    """What a layer changes in the tree below it; paths are relative to the root."""
    files: dict = dataclasses.field(default_factory=dict)    # path: content
    removed: list = dataclasses.field(default_factory=list)
    emptied: list = dataclasses.field(default_factory=list)    # directories whose content below is hidden


def make_image(layout, tag, tree, labels=None):
    """Makes the image TAG with the whole of TREE as its one layer, in the OCI layout in the folder LAYOUT."""
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
    """Makes the image TAG out of the image BASE of the same layout and one more layer."""
    shell.need("umoci")
    with tempfile.TemporaryDirectory(prefix="pintle-layer-") as folder:
        archive = pathlib.Path(folder) / "layer.tar"
        archive.write_bytes(_archive_of(layer))
        shell.run("umoci", "raw", "add-layer", "--image", f"{layout}:{base}", "--tag", tag, archive)
    _label(layout, tag, labels)


def _label(layout, tag, labels):
    words = [f"--config.label={name}={value}" for name, value in (labels or {}).items()]
    if words:
        shell.run("umoci", "config", "--image", f"{layout}:{tag}", *words)


def _archive_of(layer):
    """A layer hides a file by an empty file .wh.NAME beside it, and all in a directory by .wh..wh..opq in it."""
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
