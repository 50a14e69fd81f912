"""JupyterLab on the notebooks, or Voila: where they are, and how it is started."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from evelab.errors import EvelabError

PACKAGE = Path(__file__).resolve().parent.parent
CHECKOUT = PACKAGE.parent
SETTINGS = PACKAGE / "lab" / "settings"
APP = PACKAGE / "lab" / "app"
APP_EXTENSIONS = {
    "voila.server_extension": True,
    "jupyterlab": False,
    "jupyter_lsp": False,
    "jupyter_server_terminals": False,
    "notebook_shim": False,
}
LEFT_SECONDS = 600
"""After how long the kernel of a page that was left ends, where the browser did not say so when it was left."""
OWN_MATHJAX = {"mathjax_url": None, "mathjax_config": None}
"""Voila fetches MathJax from the internet, unless both are None: then it takes the one that it brings."""


class LabError(EvelabError):
    """The lab cannot be opened.

    Attributes:
        place: the folder or the port that is in the way.
    """

    def __init__(self, message: str, *, place: str) -> None:
        super().__init__(message)
        self.place = place


def source_notebooks() -> tuple[Path, bool]:
    """The notebooks that came with evelab, and whether they are those of a checkout.

    Raises:
        LabError: there are none.
    """
    for folder, is_checkout in ((CHECKOUT / "notebooks", True), (PACKAGE / "_notebooks", False)):
        if (folder / "00_start_here.ipynb").is_file():
            return folder, is_checkout
    raise LabError(f"No notebooks were found beside {PACKAGE}.", place=str(PACKAGE))


def notebooks_in(folder: Path | None) -> Path:
    """The folder to open. A named folder gets a copy of every notebook that it does not hold yet.

    Raises:
        LabError: no folder was named where one is needed, or it cannot be written.
    """
    source, is_checkout = source_notebooks()
    if folder is None:
        if is_checkout:
            return source
        raise LabError("Name a folder to put the notebooks into: evelab lab FOLDER.", place="FOLDER")
    try:
        for path in sorted(source.rglob("*")):
            inside = path.relative_to(source)
            copy = folder / inside
            if path.is_file() and not copy.exists() and not any(part.startswith(".") for part in inside.parts):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
    except OSError as error:
        raise LabError(f"The notebooks cannot be copied to {folder}: {error.strerror}.", place=str(folder)) from None
    return folder


def check_port(port: int | None) -> None:
    """See that the port is free; None is any free one.

    Raises:
        LabError: it is in use, or this user may not open it.
    """
    if port is None:
        return
    with socket.socket() as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise LabError(
                f"Port {port} cannot be opened: {error.strerror}. Choose another one with --port, or leave it out.",
                place=str(port),
            ) from None


def lab_command(
    notebooks: Path, *, open_browser: bool = True, port: int | None = None, base_url: str | None = None
) -> list[str]:
    """The command line that starts JupyterLab. It asks no server for news or updates.

    Args:
        notebooks: the folder to serve.
        open_browser: whether to open a browser.
        port: the port; Jupyter's choice when None.
        base_url: where on the server the lab is, such as ``"/user/zhang/"``; all of it when None.

    Raises:
        LabError: a JupyterHub started this, and its package is not installed here.
    """
    return [
        *_command("jupyterlab", notebooks, open_browser=open_browser, port=port, base_url=base_url),
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
        f"--LabApp.app_settings_dir={SETTINGS}",
        "--LabApp.default_url=/lab/tree/00_start_here.ipynb",
        "--ServerApp.default_url=/lab/tree/00_start_here.ipynb",
    ]


def app_command(
    notebooks: Path, *, open_browser: bool = True, port: int | None = None, base_url: str | None = None
) -> list[str]:
    """The command line that serves the notebooks as pages without cells: Jupyter's server with Voila in it.

    Not Voila's own server, which lets everybody in who reaches the port. JupyterLab is left out. The arguments are
    those of ``lab_command``.

    Raises:
        LabError: Voila is not installed, or JupyterHub is not where one started this.
    """
    if find_spec("voila") is None:
        raise LabError('evelab app needs Voila: pip install "evelab[app]".', place="voila")
    return [
        *_command("jupyter_server", notebooks, open_browser=open_browser, port=port, base_url=base_url),
        f"--ServerApp.jpserver_extensions={APP_EXTENSIONS}",
        f"--ServerApp.tornado_settings={OWN_MATHJAX}",
        "--ServerApp.default_url=/voila",
        "--VoilaConfiguration.template=evelab",
        f"--MappingKernelManager.cull_idle_timeout={LEFT_SECONDS}",
        "--MappingKernelManager.cull_interval=60",
    ]


def _command(module: str, notebooks: Path, *, open_browser: bool, port: int | None, base_url: str | None) -> list[str]:
    if os.environ.get("JUPYTERHUB_SERVICE_PREFIX"):
        # A hub tells address, port and who may come in through the environment; its own module reads that.
        if find_spec("jupyterhub") is None:
            raise LabError("A JupyterHub started this: pip install jupyterhub beside evelab.", place="jupyterhub")
        module = "jupyterhub.singleuser"
    words = [sys.executable, "-m", module, f"--ServerApp.root_dir={notebooks.resolve()}"]
    if not open_browser:
        words.append("--no-browser")
    if port is not None:
        words += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if base_url is not None:
        words.append(f"--ServerApp.base_url={base_url}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        words.append("--allow-root")
    return words


def serve(words: list[str]) -> int:
    """Run a server until it is stopped; its exit status. Where the system can, this process becomes it."""
    templates = [str(APP), *filter(None, [os.environ.get("JUPYTER_PATH")])]
    environ = {**os.environ, "JUPYTER_PREFER_ENV_PATH": "1", "JUPYTER_PATH": os.pathsep.join(templates)}
    if os.name == "posix":
        os.execve(words[0], words, environ)  # noqa: S606
    try:
        return subprocess.run(words, env=environ, check=False).returncode
    except KeyboardInterrupt:
        return 0
