"""Options of several commands, checked before Spark starts."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from strandline.core.errors import UsageError
from strandline.core.nearest import did_you_mean
from strandline.core.safe_files import open_file
from strandline.dialect_api.info import DialectInfo
from strandline.dialects import infos, names

MAX_OPTION_FILE_BYTES = 64 * 1024 * 1024


def by_dialect(formats_of: Callable[[DialectInfo], Iterable[str]]) -> str:
    """Return the formats of each dialect that has some, for a help text."""
    listed = {name: ", ".join(formats_of(info)) for name, info in infos().items()}
    return "; ".join(f"{name}: {formats}" for name, formats in listed.items() if formats)


DialectName = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        metavar="NAME",
        help=f"Format of the journals: {' or '.join(names())}.",
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help=f"Format of the files, if their names do not show it; {by_dialect(lambda info: info.formats)}.",
    ),
]


def known_dialect(name: str | None, command: str) -> str:
    """Return `name`, which is a dialect's. Raises: UsageError DIALECT_MISSING, DIALECT_UNKNOWN."""
    known = names()
    if name is None:
        one = f"add --dialect {known[0]}"
        raise UsageError(
            "DIALECT_MISSING",
            f"{command} needs the format of the journals",
            one if len(known) == 1 else f"add --dialect with one of: {', '.join(known)}",
        )
    if name not in known:
        raise UsageError("DIALECT_UNKNOWN", f"there is no dialect {name}", did_you_mean(name, known))
    return name


def file_of_option(option: str, name: str) -> bytes:
    """Return the bytes of the file that `--option` names. Raises: UsageError `OPTION_FILE`."""
    try:
        # A Path has no slashes in a row, after which `open_file` would follow no link.
        with open_file(Path(name)) as stream:
            content = stream.read(MAX_OPTION_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no path"
        raise UsageError(
            "OPTION_FILE",
            f"the file {name} of --{option} cannot be read: {why}",
            "name a file that you can read",
        ) from None
    if len(content) > MAX_OPTION_FILE_BYTES:
        raise UsageError(
            "OPTION_FILE", f"the file {name} of --{option} is larger than 64 MiB", "name a smaller file"
        )
    return content
