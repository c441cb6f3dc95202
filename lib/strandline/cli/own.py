"""Options that dialects read by themselves, with the files that they name."""

from pathlib import Path
from typing import TYPE_CHECKING

from strandline.cli.invocation import Invocation
from strandline.core.errors import UsageError
from strandline.dialects import CommandOption, authoring_of, names, options_of

if TYPE_CHECKING:
    from strandline.dialects.authoring import OwnRun

MAX_OPTION_FILE_BYTES = 64 * 1024 * 1024


def own_run(call: Invocation, dialect: str) -> "OwnRun | None":
    """Return what the options of the dialect say of own journals, or None if none of them was given.

    Raises: UsageError `OPTION_OF_OTHER_DIALECT`, `OPTION_FILE`, and what the dialect finds wrong in them.
    """
    given = call.options.of_dialects
    if not given:
        return None
    known = {option.name: option for option in options_of(dialect)}
    for name in given:
        if name not in known:
            raise UsageError(
                "OPTION_OF_OTHER_DIALECT",
                f"--{name} says nothing to the dialect {dialect}",
                "leave it out, or name the dialect that it belongs to",
            )
    found = authoring_of(dialect)
    if found is None:
        return None
    from strandline.dialects.authoring import GivenOption, OwnRun

    options = {
        name: tuple(GivenOption(text, _content(known[name], text)) for text in texts)
        for name, texts in given.items()
    }
    return OwnRun(found, found.read(options))


def own_runs(call: Invocation) -> "dict[str, OwnRun]":
    """Return, by dialect, what its options say of own journals; dialects of which none was given are left out.

    Raises: UsageError `OPTION_FILE`, and what a dialect finds wrong in its options.
    """
    given = call.options.of_dialects
    asked = [name for name in names() if given and {option.name for option in options_of(name)} >= set(given)]
    found = {name: own_run(call, name) for name in asked}
    return {name: own for name, own in found.items() if own is not None}


def _content(option: CommandOption, text: str) -> bytes | None:
    if not option.is_file:
        return None
    try:
        with Path(text).open("rb") as stream:
            content = stream.read(MAX_OPTION_FILE_BYTES + 1)
    except OSError as error:
        raise UsageError(
            "OPTION_FILE",
            f"the file {text} of --{option.name} cannot be read: {error.strerror}",
            "name a file",
        ) from None
    if len(content) > MAX_OPTION_FILE_BYTES:
        raise UsageError(
            "OPTION_FILE", f"the file {text} of --{option.name} is over 64 MiB", "name a smaller file"
        )
    return content
