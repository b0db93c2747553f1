"""What comes through the page: a scene, a URDF, or a .zip of a model with its meshes, unpacked into a folder of the session.

What comes in is a stranger's. Nothing is written outside of the folder, sizes are counted while unpacking, only kinds of files
that models need are kept, and `distrust` has the readers see to it that a model names no file outside of it.
"""

from __future__ import annotations

import io
import os
import shutil
import stat
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import memetik as mk
from memetik import scenes
from memetik.read import Element, check_mjcf, distrust, forget, read_xml, resolve_mesh
from memetik_studio.meshes import FORMATS, PACKAGE

MOST_ZIP = 128 * 2**20  # bytes, packed
MOST_UNPACKED = 512 * 2**20  # bytes, of all uploads of a session
MOST_FILES = 10_000
MODELS = (".urdf", ".xml", ".mjcf")
KEPT = (*MODELS, *FORMATS, ".mtl", ".bin", ".msh", ".skn", ".png", ".jpg", ".jpeg")


class Uploads:
    """The folder that holds what was uploaded in one session."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._left = MOST_UNPACKED
        self.roots: tuple[str, ...] = ()

    def close(self) -> None:
        """Delete everything."""
        if self._folder is not None:
            forget(Path(self._folder.name))
            self._folder.cleanup()
            self._folder = None
            self.roots = ()

    def take(self, name: str, content: bytes) -> list[str]:
        """Unpack a .zip, or keep a single model; its models, by their paths in the first of `roots`, the likeliest first."""
        short = name[-100:]
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="memetik_studio_")
            distrust(Path(self._folder.name))
        base = Path(self._folder.name).resolve()
        stem = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in PurePosixPath(short).stem)
        stem = stem.strip(".") or "model"
        folder = base / stem
        number = 2
        while folder.exists():
            folder, number = base / f"{stem}-{number}", number + 1
        folder.mkdir()
        try:
            zipped = short.lower().endswith(".zip")
            files = _unzipped(short, content, self._left) if zipped else [(stem + PurePosixPath(short).suffix, content)]
            for path, data in files:
                self._left -= len(data)
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            models = _models(folder, short)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, (OSError, ValueError)) and not isinstance(error, mk.MemetikError):
                raise mk.errors.FormatError(f"{short!r} cannot be kept: {error}. Rename what is in it.") from error
            raise
        self.roots = tuple(dict.fromkeys((str(base), str(folder), *self.roots)))
        return [str(model.relative_to(base)) for model in models]

    def settle(self, model: str) -> None:
        """Put the meshes that a URDF names where its reader looks, if they are elsewhere in the upload.

        People zip the folder of a package, or move meshes beside the model; the names in the model stay what they were. A file
        whose path ends like the name of the mesh is taken, the one that agrees most.
        """
        folder = Path(self.roots[1])
        path = Path(self.roots[0]) / model
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mk.MemetikWarning)  # what stays missing is named in the page
            body = mk.load(path, roots=self.roots)
        there = [file for file in folder.rglob("*") if file.is_file()]
        for name in {s.mesh for link in body.links.values() for s in (*link.visuals, *link.shapes) if s.kind == "mesh"}:
            wanted = PurePosixPath(name.removeprefix(PACKAGE).lstrip("/"))
            if resolve_mesh(name, self.roots) is not None or "://" in str(wanted) or ".." in wanted.parts:
                continue
            agreed = {file: _agreement(wanted, file) for file in there}
            best = max(agreed.values(), default=0)
            found = [file for file, count in agreed.items() if count == best]
            target = folder / wanted
            if best > 0 and len(found) == 1 and target.resolve().is_relative_to(folder) and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                os.link(found[0], target)


def _agreement(wanted: PurePosixPath, file: Path) -> int:
    """How many parts at the end of two paths are the same."""
    count = 0
    for one, other in zip(reversed(wanted.parts), reversed(file.parts), strict=False):
        if one.lower() != other.lower():
            break
        count += 1
    return count


def _unzipped(name: str, content: bytes, left: int) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The files of an archive that models need, each with its path, which leads nowhere else."""
    if len(content) > MOST_ZIP:
        raise mk.errors.FormatError(f"{name} is larger than {MOST_ZIP >> 20} MB, the most that can be uploaded.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > MOST_FILES:
                raise mk.errors.FormatError(
                    f"{name} has {len(entries)} files, more than {MOST_FILES}. Leave out what is not needed."
                )
            for entry in entries:
                path = _safe_path(name, entry)
                if path.suffix.lower() not in KEPT or "__MACOSX" in path.parts:
                    continue
                with archive.open(entry) as stream:
                    data = stream.read(left + 1)  # what an entry says about its size may be a lie
                left -= len(data)
                if left < 0:
                    raise mk.errors.FormatError(
                        f"{name} has more than {MOST_UNPACKED >> 20} MB unpacked. Leave out what is not needed."
                    )
                yield path, data
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        if isinstance(error, mk.MemetikError):
            raise
        raise mk.errors.FormatError(f"{name} cannot be unpacked: {error}. Is it a .zip without a password?") from None


def _safe_path(name: str, entry: zipfile.ZipInfo) -> PurePosixPath:
    path = PurePosixPath(entry.filename.replace("\\", "/"))
    odd = path.is_absolute() or ".." in path.parts or ":" in str(path) or "\0" in str(path) or not path.parts
    if odd or len(str(path)) > 500 or stat.S_ISLNK(entry.external_attr >> 16):
        raise mk.errors.FormatError(f"{name}: {entry.filename[-100:]!r} leads out of the archive. Nothing was opened.")
    return path


def _models(folder: Path, name: str) -> list[Path]:
    """The models in a folder, the likeliest first: URDF before MuJoCo, whole robots before what they include.

    XML that the strict reader refuses is deleted, so that no other reader meets it.
    """
    trouble, roots = "", {}
    for path in sorted(each for each in folder.rglob("*") if each.suffix.lower() in MODELS and each.is_file()):
        try:
            roots[path] = read_xml(path)
        except mk.errors.FormatError as error:
            path.unlink()
            trouble = trouble or str(error)
    includes = (each for root in roots.values() for each in _all(root) if each.tag in ("include", "model"))
    included = {PurePosixPath(each.attributes.get("file", "")).name for each in includes}
    found: list[tuple[int, bool, int, str, Path]] = []
    for path, root in roots.items():
        if root.tag.startswith("mujoco"):
            check_mjcf(path, folder)
        rank = {"robot": 0, "mujoco": 1}.get(root.tag)
        joints = sum(element.tag in ("joint", "freejoint", "include") for element in _all(root))
        if rank is not None and joints:
            found.append((rank, path.name in included, -joints, str(path), path))
    if not found:
        kinds = "a .urdf, or an .xml of MuJoCo, with joints"
        raise mk.errors.FormatError(f"{name}: there is no model in it: {kinds}. {trouble}".strip())
    return [path for *_, path in sorted(found)]


def _all(root: Element) -> Iterator[Element]:
    yield root
    for child in root.children:
        yield from _all(child)


def read_upload(name: str, content: bytes, roots: Sequence[str] = ()) -> scenes.Scene:
    """The scene in a .json, or a new one around the body in a .urdf: read by the strict readers, never executed."""
    short = name[-100:]
    if len(content) > scenes.MOST_BYTES:
        raise mk.errors.FormatError(
            f"{short} is larger than {scenes.MOST_BYTES >> 20} MB, the most that can be uploaded."
        )
    suffix = short.rpartition(".")[2].lower()
    if suffix == "json":
        return scenes.loads(content, short)
    if suffix not in ("urdf", "xml"):
        raise mk.errors.FormatError(f"{short}: upload a body as .urdf, with its meshes as .zip, or a scene as .json.")
    try:
        source = scenes.BodySource("urdf", content.decode())
    except UnicodeDecodeError as error:
        raise mk.errors.FormatError(f"{short} is not text in UTF-8: {error.reason} at byte {error.start}.") from error
    return scenes.blank(source, scenes.load_body(source, roots))
