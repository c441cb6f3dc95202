"""The description of a dialect: all that help, `init`, `status` and contracts need. Nothing here imports Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LakeOption:
    """A choice that is fixed when a lake is made: a property of one table. It decides verdicts, or states.

    `name` is the option of `init`, `table` and `table_property` say where the choice is stored. `values` are the values
    allowed, the first one the default; None allows any text, and `default` is the default. With a `flag` the option
    takes no value: giving it chooses that value.
    """

    name: str
    table: str
    table_property: str
    help: str
    values: tuple[str, ...] | None = None
    flag: str | None = None
    metavar: str = "NAME"
    default: str = ""

    @property
    def unset(self) -> str:
        """The value of a lake that was made without the option."""
        return self.default if self.values is None else self.values[0]


@dataclass(frozen=True, slots=True)
class RunOption:
    """An option that a dialect adds to commands.

    `name` is written without its dashes. `is_file`: the value is the path of a file, and the dialect gets its bytes.
    `is_list`: the option may be repeated. `sticky` (files only): the newest run that was given the file decides for all
    later runs, and the value `none` drops the file; the dialect reads it as a parameter of its reducer.
    """

    name: str
    commands: tuple[str, ...]
    metavar: str
    help: str
    is_file: bool = False
    is_list: bool = False
    sticky: bool = False


@dataclass(frozen=True, slots=True)
class GivenOption:
    """One option as it was given: its text, and the bytes of the file that the text names, or None if it names none."""

    text: str
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class DialectInfo:
    """One journal format, described without Spark and without importing the dialect.

    `load` is where the `Dialect` object is, as `module:attribute`. `kinds` are its kinds of namespaces. `record_table`
    is the table of accepted records, `side_tables` are tables of what records need, `reduced_tables` are in the order
    of writing (without `namespace_state`). `formats` are the formats of files by name, each with the endings of file
    names that mean it; empty where the content decides. `export_format` is the format that `export` writes, where names
    tell formats; `message_format` that of a message of Kafka, one line. `health` and `unpacking` name objects
    (`module:attribute`) or None: how local nodes stand, and how a node's folder becomes a file.
    """

    name: str
    load: str
    kinds: tuple[str, ...]
    record_table: str
    side_tables: tuple[str, ...] = ()
    reduced_tables: tuple[str, ...] = ()
    formats: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    export_format: str | None = None
    message_format: str | None = None
    lake_options: tuple[LakeOption, ...] = ()
    run_options: tuple[RunOption, ...] = ()
    health: str | None = None
    unpacking: str | None = None

    @property
    def ingest_tables(self) -> tuple[str, ...]:
        """The tables that files bring rows of: all have namespace, bucket and record_id."""
        return (self.record_table, *self.side_tables)

    @property
    def sticky_options(self) -> tuple[RunOption, ...]:
        """The options whose file holds until a later run is given another one."""
        return tuple(option for option in self.run_options if option.sticky)
