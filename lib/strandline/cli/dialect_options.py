"""The options that dialects add to commands, read before Spark starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from strandline.cli.given import file_of_option
from strandline.cli.invocation import Invocation
from strandline.core.errors import UsageError
from strandline.dialect_api.info import GivenOption, RunOption
from strandline.dialects import dialect, infos

NO_FILE = "none"
"""The value of a sticky option that removes the stored file."""


@dataclass(frozen=True, slots=True)
class DialectOptions:
    """The parsed options of dialects.

    `parsed` maps a dialect to the result of its `parse_options`. `files` maps a sticky option to the given file, or
    to None to remove the stored file.
    """

    parsed: Mapping[str, object] = field(default_factory=dict)
    files: Mapping[str, GivenOption | None] = field(default_factory=dict)


def read_dialect_options(call: Invocation, dialects: Sequence[str]) -> DialectOptions:
    """Return the given options, parsed by the dialects that declare them.

    Raises: UsageError `OPTION_OF_OTHER_DIALECT` (none of `dialects` declares an option), `OPTION_FILE`, and the errors
    of a dialect's parser.
    """
    given = call.options.of_dialects
    if not given:
        return DialectOptions()
    declared = {
        name: {option.name: option for option in infos()[name].run_options if call.command in option.commands}
        for name in dialects
    }
    for option in given:
        if not any(option in options for options in declared.values()):
            raise _not_declared(option, dialects)
    parsed: dict[str, object] = {}
    files: dict[str, GivenOption | None] = {}
    for name, options in declared.items():
        once: dict[str, list[GivenOption]] = {}
        kept: dict[str, GivenOption] = {}
        for each in (found for found in options.values() if found.name in given):
            texts = given[each.name]
            if not each.sticky:
                once[each.name] = _values(each, texts)
            elif texts == (NO_FILE,):
                files[each.name] = None
            else:
                kept[each.name] = _values(each, texts)[0]
        files |= kept
        if kept:
            dialect(name).parse_reducer_options(kept)
        if once:
            parsed[name] = dialect(name).parse_options(once)
    return DialectOptions(parsed, files)


def _values(option: RunOption, texts: Sequence[str]) -> list[GivenOption]:
    return [
        GivenOption(text, file_of_option(option.name, text) if option.is_file else None) for text in texts
    ]


def _not_declared(option: str, dialects: Sequence[str]) -> UsageError:
    named = f"the dialect {dialects[0]}" if len(dialects) == 1 else "any dialect"
    return UsageError(
        "OPTION_OF_OTHER_DIALECT",
        f"--{option} is not an option of {named}",
        "leave it out, or name the dialect that has this option",
    )
