"""The exercise notebook is made from the solutions: ``python -m tests.make_exercises``.

In a code cell of the solutions, what stands between ``# your code: STUB`` and ``# end`` is the answer. The
exercise has ``# your code`` and the stub there. A text cell that begins with ``<!-- solution -->`` is left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbclient import NotebookClient

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
SOLUTIONS = NOTEBOOKS / "solutions" / "12_exercises.ipynb"
EXERCISES = NOTEBOOKS / "12_exercises.ipynb"
ANSWER = re.compile(r"(?P<indent> *)# your code: ?(?P<stub>.*)\n(?:.*\n)*?(?P=indent)# end(?=\n|\Z)")
SOLUTION_ONLY = "<!-- solution -->"


def exercise_source(source: str) -> str:
    """A code cell with its answers taken out.

    >>> print(exercise_source("def f():\\n    # your code: return None\\n    return 1\\n    # end"))
    def f():
        # your code
        return None
    """
    return ANSWER.sub(lambda found: f"{found['indent']}# your code\n{found['indent']}{found['stub']}", source)


def exercise_cells(solutions: Any) -> Iterator[tuple[str, str]]:
    """Kind and source of each cell of the exercise notebook."""
    for cell in solutions.cells:
        if cell.cell_type == "code":
            yield "code", exercise_source(cell.source)
        elif not cell.source.startswith(SOLUTION_ONLY):
            yield "markdown", cell.source


def make(solutions: Any) -> Any:
    """The exercise notebook, not run yet."""
    made = nbformat.v4.new_notebook(metadata=solutions.metadata)
    for place, (kind, source) in enumerate(exercise_cells(solutions)):
        new: Any = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        made.cells.append(new(source, id=f"12-{place:02d}"))
    return made


def run(notebook: Any, folder: Path) -> Any:
    """Run every cell; only what a reader sees is kept."""
    metadata = dict(notebook.metadata)
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(folder)}}).execute()
    notebook.metadata = metadata
    for cell in notebook.cells:
        cell.metadata = {}
    return notebook


if __name__ == "__main__":
    solved = run(nbformat.read(SOLUTIONS, 4), SOLUTIONS.parent)
    nbformat.write(solved, SOLUTIONS)
    nbformat.write(run(make(solved), NOTEBOOKS), EXERCISES)
