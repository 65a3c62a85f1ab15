"""Files that go with jobs and come back: contents by their SHA-256, and only those that are lacking."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from ._errors import WeftError, wrong
from ._http import Line
from ._options import listed

_BLOCK_BYTES = 1024 * 1024
_ENTRIES_MAX = 100_000
_ASKED_MAX = 10_000
_TURNS_MAX = 10
_MODE = 0o777


class _Upload:
    """What goes with one job: entries of its directory, and where their contents are here."""

    def __init__(self) -> None:
        self.entries: Dict[str, Dict[str, Any]] = {}
        self.sources: Dict[str, str] = {}

    def add(self, wish: str) -> None:
        """`data.csv`, `runs/7/data.csv=input.csv`, `mesh`, `mesh=.`, `data.csv=input/`."""
        path, name = _parted(wish)
        if not os.path.lexists(path):
            raise wrong(f"files: there is no '{path}'")
        own = os.path.basename(os.path.abspath(path))
        if name in (None, "") or (name is not None and name.endswith("/")):
            name = f"{name or ''}{own}"
        top = None if name == "." else os.path.normpath(str(name))
        if top is not None and (os.path.isabs(top) or top.split("/")[0] == ".."):
            raise wrong(f"files: '{wish}' would lie outside of the job's directory")
        # A link that is named itself stands for what it leads to; those in folders stay links.
        real = os.path.realpath(path)
        if os.path.isdir(real):
            self._add_folder(real, top)
        elif top is None:
            raise wrong(f"files: '{path}' is a file; only a folder can be at .")
        else:
            self._put(top, real)

    def _add_folder(self, path: str, top: Optional[str]) -> None:
        if top is not None:
            self._put(top, path)
        for folder, folders, names in os.walk(path):
            for name in sorted([*folders, *names]):
                full = os.path.join(folder, name)
                inside = os.path.relpath(full, path)
                self._put(inside if top is None else f"{top}/{inside}", full)

    def _put(self, at: str, full: str) -> None:
        found = os.lstat(full)
        mode = stat.S_IMODE(found.st_mode) & _MODE
        entry: Dict[str, Any] = {"path": at, "kind": "folder", "size": 0, "mode": mode}
        if stat.S_ISLNK(found.st_mode):
            entry.update(kind="link", target=_inner_target(at, full))
        elif stat.S_ISREG(found.st_mode):
            entry.update(kind="file")
        elif not stat.S_ISDIR(found.st_mode):
            raise wrong(f"files: '{full}' is neither file nor folder nor link")
        if entry["kind"] == "file":
            if self.sources.get(at, full) != full:
                raise wrong(f"files: '{at}' comes from both {self.sources[at]} and {full}")
            entry["sha256"], entry["size"] = hash_file(full)
            self.sources[at] = full
        self.entries[at] = entry
        if len(self.entries) > _ENTRIES_MAX:
            raise wrong(f"files: more than {_ENTRIES_MAX} files and folders; pack them with tar")


def _inner_target(at: str, full: str) -> str:
    target = os.readlink(full)
    inside = os.path.normpath(os.path.join(os.path.dirname(at), target))
    if os.path.isabs(target) or inside.split("/")[0] == "..":
        raise wrong(f"files: '{full}' is a link that leads outside of the job's directory")
    return target


def _parted(wish: str) -> Tuple[str, Optional[str]]:
    """A name may have a `=` in it: what is there is meant."""
    path, mark, name = wish.rpartition("=")
    if not mark or (os.path.lexists(wish) and not os.path.lexists(path)):
        return wish, None
    return path, name


def hash_file(path: str) -> Tuple[str, int]:
    """SHA-256 and size."""
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as opened:
        while True:
            block = opened.read(_BLOCK_BYTES)
            if not block:
                return digest.hexdigest(), size
            digest.update(block)
            size += len(block)


def send_inputs(line: Line, files: Any) -> Optional[str]:
    """The hash that a submission names, once the head has everything; None: there is nothing."""
    upload = _Upload()
    wishes = files.items() if isinstance(files, Mapping) else [(one, None) for one in listed(files)]
    for path, name in wishes:
        text = os.fspath(path)
        upload.add(text if name is None else f"{text}={name}")
    if not upload.entries:
        return None
    entries = sorted(upload.entries.values(), key=lambda entry: str(entry["path"]))
    text = json.dumps({"version": 1, "common": entries}, separators=(",", ":"), ensure_ascii=False)
    data = text.encode()
    name = hashlib.sha256(data).hexdigest()
    contents: Dict[str, Tuple[Any, int]] = {name: (data, len(data))}
    for at, full in upload.sources.items():
        entry = upload.entries[at]
        contents[entry["sha256"]] = (full, entry["size"])
    for digest in _lacking(line, list(contents)):
        source, size = contents[digest]
        _send(line, digest, source, size)
    return name


def _lacking(line: Line, hashes: List[str]) -> Dict[str, int]:
    found: Dict[str, int] = {}
    for at in range(0, len(hashes), _ASKED_MAX):
        body = {"hashes": hashes[at : at + _ASKED_MAX]}
        for one in line.call("POST", "/v1/blobs/lacking", body=body)["lacking"]:
            found[one["hash"]] = one["offset"]
    return found


def _send(line: Line, digest: str, source: Any, size: int) -> None:
    """From where the last connection ended, as often as that brings it further."""

    def attempt() -> bool:
        offset = _lacking(line, [digest]).get(digest)
        if offset is None:
            return True
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size - offset)}
        try:
            answer = line.open(
                "PATCH",
                f"/v1/blobs/{digest}",
                _blocks(source, offset, size),
                query={"offset": offset, "size": size},
                headers=headers,
            )
            return bool(json.loads(answer.read())["held"])
        except WeftError as error:
            if error.code in ("blob.offset", "blob.taken_over"):
                return False
            if error.code == "blob.hash_mismatch" and offset > 0:
                return False
            raise

    for _ in range(_TURNS_MAX):
        if line.patiently(attempt):
            return
    raise wrong(
        f"files: {source if isinstance(source, str) else 'a list'} is sent by another program at once"
    )


def _blocks(source: Any, offset: int, size: int) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source[offset:]
        return
    with open(source, "rb") as opened:
        opened.seek(offset)
        left = size - offset
        while left > 0:
            block = opened.read(min(_BLOCK_BYTES, left))
            if not block:
                raise wrong(f"files: {source} became shorter while it was sent")
            left -= len(block)
            yield block


def pull(line: Line, manifests: Sequence[Tuple[str, Mapping[str, Any]]]) -> List[str]:
    """Writes what tasks have left into folders; paths of the files, those included that were there."""
    written: List[str] = []
    for folder, manifest in manifests:
        os.makedirs(folder, exist_ok=True)
        entries = sorted(manifest["entries"], key=lambda entry: str(entry["path"]))
        for entry in entries:
            full = _place(folder, str(entry["path"]))
            if entry["kind"] == "folder":
                os.makedirs(full, exist_ok=True)
            elif entry["kind"] == "link":
                _link(folder, full, str(entry.get("target", "")))
            else:
                _fetch(line, entry, full)
                written.append(full)
    return written


def _place(folder: str, path: str) -> str:
    """Nothing is ever written outside of the folder, whatever a job has left."""
    parts = path.split("/")
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        raise wrong(f"'{path}' is no path within a folder")
    full = os.path.join(folder, *parts)
    parent = os.path.dirname(full)
    os.makedirs(parent, exist_ok=True)
    root = os.path.realpath(folder)
    if os.path.commonpath([root, os.path.realpath(parent)]) != root:
        raise wrong(f"'{path}' would lie outside of {folder}: a link is in its way")
    return full


def _link(folder: str, full: str, target: str) -> None:
    inside = os.path.normpath(os.path.join(os.path.dirname(full), target))
    if os.path.isabs(target) or os.path.commonpath([os.path.abspath(folder), os.path.abspath(inside)]) != (
        os.path.abspath(folder)
    ):
        raise wrong(f"'{full}' is a link that leads outside")
    if os.path.lexists(full) and os.path.islink(full):
        os.remove(full)
    os.symlink(target, full)


def _fetch(line: Line, entry: Mapping[str, Any], full: str) -> None:
    """Replaced by a file that is whole and verified, or left alone where it has that content."""
    digest, size = str(entry["sha256"]), int(entry["size"])
    if os.path.isfile(full) and not os.path.islink(full) and hash_file(full) == (digest, size):
        return

    def attempt() -> None:
        answer = line.open("GET", f"/v1/blobs/{digest}")
        descriptor, draft = tempfile.mkstemp(dir=os.path.dirname(full), prefix=".weft-")
        try:
            hashed = hashlib.sha256()
            with os.fdopen(descriptor, "wb") as opened:
                for piece in answer.pieces(_BLOCK_BYTES):
                    hashed.update(piece)
                    opened.write(piece)
            if hashed.hexdigest() != digest:
                message = f"What came of {full} is not what it should be."
                raise WeftError(message, code="blob.hash_mismatch", kind="unavailable")
            os.chmod(draft, int(entry["mode"]) & _MODE)
            os.replace(draft, full)
        except BaseException:
            os.unlink(draft)
            raise
        finally:
            answer.close()

    line.patiently(attempt)
