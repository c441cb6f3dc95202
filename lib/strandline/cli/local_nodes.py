"""Options that dialects read by themselves, with the files that they name."""

from typing import TYPE_CHECKING

from strandline.cli.given import file_of_option
from strandline.cli.invocation import Invocation
from strandline.core.errors import UsageError
from strandline.dialects import journal_writer_of, names, options_of

if TYPE_CHECKING:
    from strandline.dialect_api.journals import JournalOptions
    from strandline.pipelines.reducer_options import GivenFile


def own_run(call: Invocation, dialect: str) -> "JournalOptions | None":
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
    found = journal_writer_of(dialect)
    if found is None:
        return None
    from strandline.dialect_api.journals import GivenOption, JournalOptions

    options = {
        name: tuple(
            GivenOption(text, file_of_option(name, text) if known[name].is_file else None) for text in texts
        )
        for name, texts in given.items()
    }
    return JournalOptions(found, found.read(options))


def own_runs(call: Invocation) -> "dict[str, JournalOptions]":
    """Return, by dialect, what its options say of own journals; dialects of which none was given are left out.

    Raises: UsageError `OPTION_FILE`, and what a dialect finds wrong in its options.
    """
    given = call.options.of_dialects
    asked = [name for name in names() if given and {option.name for option in options_of(name)} >= set(given)]
    found = {name: own_run(call, name) for name in asked}
    return {name: own for name, own in found.items() if own is not None}


def told_files(log_config: str | None) -> "dict[str, GivenFile | None]":
    """Return, by option, the files that are kept for later runs; `none` instead of a name drops the one in force.

    Raises: UsageError `OPTION_FILE`.
    """
    if log_config is None:
        return {}
    from strandline.pipelines.reducer_options import GivenFile

    dropped = log_config == "none"
    return {
        "log-config": None if dropped else GivenFile(log_config, file_of_option("log-config", log_config))
    }
