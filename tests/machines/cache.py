# SPDX-License-Identifier: Apache-2.0
"""A cache for images and programs that take long to make.  Each is made once, outside the source tree, and has the hash
of its recipe in its name.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import sys
import time


def directory():
    """Returns the cache's folder: $PINTLE_CACHE, or pintle/ in the user's cache folder."""
    chosen = os.environ.get("PINTLE_CACHE")
    base = pathlib.Path(chosen) if chosen else pathlib.Path(
        os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "pintle"
    base.mkdir(parents=True, exist_ok=True)
    return base


def recipe_key(*parts):
    """Returns a hash of everything that the result depends on: texts, options, and whole source files."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, pathlib.Path) else str(part).encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:16]


def made_once(name, key, make, base=None):
    """Returns the path NAME-KEY in the cache, or in the folder `base`, calling make(path) if it is not there yet.

    If two processes want the same thing, the second one waits for the first.  A result gets its name when it is
    complete.  Results of older recipes are removed.
    """
    base = base or directory()
    wanted = base / f"{name}-{key}"
    with _lock(base / f".{name}.lock"):
        if wanted.exists():
            return wanted
        unfinished = base / f".{name}-{key}.making"
        _remove(unfinished)
        started = time.monotonic()
        print(f"making {name} (once; kept in {base}) ...", file=sys.stderr, flush=True)
        try:
            make(unfinished)
            os.rename(unfinished, wanted)
        except BaseException:
            _remove(unfinished)
            raise
        print(f"made {name} in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        for other in base.glob(f"{name}-" + "[0-9a-f]" * 16):
            if other != wanted:
                _remove(other)
        return wanted


@contextlib.contextmanager
def _lock(path):
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
