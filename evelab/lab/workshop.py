"""A folder for a workshop: a fresh copy of the notebooks without outputs, and one of them put back."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from evelab.lab.server import LabError, source_notebooks

NAME = "evelab-workshop"
MARK = ".evelab-workshop"
"""A file that says: the notebooks of this folder came without outputs."""
LEFT_OUT = "solutions"
"""A folder that a workshop does not get."""


def workshop_folder(folder: Path | None) -> Path:
    """The folder of a new workshop: the one that was named, or the first free of ``evelab-workshop``, ``-2``, ``-3``.

    Raises:
        LabError: the named one is there and holds something.
    """
    if folder is None:
        number = 1
        while (free := Path(NAME if number == 1 else f"{NAME}-{number}")).exists():
            number += 1
        return free
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LabError(
            f"{folder} is there already and is not empty. Name a new folder, or open it with evelab lab {folder}.",
            place=str(folder),
        )
    return folder


def make_workshop(folder: Path) -> Path:
    """Fill a new folder with the notebooks, their outputs cleared. It is there whole, or not at all.

    Raises:
        LabError: it cannot be written.
    """
    source, _ = source_notebooks()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as unfinished:
            made = Path(unfinished) / "made"
            for path in shipped(source).values():
                copy = made / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(as_shipped(path, cleared=True), encoding="utf-8")
            (made / MARK).write_text("The notebooks here came without outputs.\n", encoding="utf-8")
            if folder.exists():
                folder.rmdir()
            made.rename(folder)
    except OSError as error:
        raise LabError(f"The workshop cannot be written to {folder}: {error.strerror}.", place=str(folder)) from None
    return folder


def shipped(source: Path) -> dict[str, Path]:
    """What a workshop holds: name, such as ``05a_fixed_scope``, -> the file; the plan ``workshop`` too."""
    files = [*sorted(source.glob("*.ipynb")), *sorted(source.glob("*.md"))]
    return {path.stem: path for path in files}


def as_shipped(path: Path, *, cleared: bool) -> str:
    """A file's text; a notebook's without its outputs, if it is to be cleared."""
    text = path.read_text("utf-8")
    if path.suffix != ".ipynb" or not cleared:
        return text
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class Reset:
    """One notebook that is to be put back.

    Attributes:
        source: the shipped file.
        target: the reader's file.
        backup: where the reader's file will be kept; None when there is none to keep.
        cleared: whether it comes without outputs, as the folder's others did.
    """

    source: Path
    target: Path
    backup: Path | None
    cleared: bool

    def do(self) -> None:
        """Keep the reader's file beside it, then put the shipped one in its place.

        Raises:
            LabError: it cannot be written. The reader's file is where it was.
        """
        try:
            if self.backup is not None:
                shutil.copyfile(self.target, self.backup)
            unfinished = self.target.with_name(f".{self.target.name}.new")
            unfinished.write_text(as_shipped(self.source, cleared=self.cleared), encoding="utf-8")
            unfinished.replace(self.target)
        except OSError as error:
            raise LabError(f"{self.target} cannot be put back: {error.strerror}.", place=str(self.target)) from None


def plan_reset(name: str, folder: Path) -> Reset:
    """What putting one notebook of a folder back would do.

    Args:
        name: the notebook, with or without ``.ipynb``.
        folder: the reader's folder.

    Raises:
        LabError: there is no such notebook, or the folder is evelab's own.
    """
    source, _ = source_notebooks()
    files = shipped(source)
    stem = name.removesuffix(".ipynb")
    if stem not in files:
        raise LabError(f'There is no notebook "{name}". There are: {", ".join(files)}.', place="NOTEBOOK")
    if folder.resolve() == source.resolve():
        raise LabError(
            f"{folder} holds evelab's own notebooks. Work on a copy: evelab lab --workshop.", place=str(folder)
        )
    if not folder.is_dir():
        raise LabError(f"There is no folder {folder}.", place=str(folder))
    target = folder / files[stem].name
    return Reset(files[stem], target, _free(target) if target.exists() else None, (folder / MARK).exists())


def _free(target: Path) -> Path:
    number = 1
    while (backup := target.with_name(f"{target.stem}.backup-{number}{target.suffix}")).exists():
        number += 1
    return backup
