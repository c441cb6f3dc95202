"""The description of a dialect: everything that help, `init`, `status` and contracts need. Does not import Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LakeOption:
    """An option that is fixed when a lake is created, stored as a property of one table. It decides verdicts or states.

    `name` is the option of `init`; `table` and `table_property` say where it is stored. `values` are the allowed
    values, the first one is the default; None allows any text that matches `form` whole, with `default` as the default.
    An option with a `flag` takes no value: giving it selects that value.
    """

    name: str
    table: str
    table_property: str
    help: str
    values: tuple[str, ...] | None = None
    flag: str | None = None
    metavar: str = "NAME"
    default: str = ""
    form: str = "(?s:.*)"

    @property
    def unset(self) -> str:
        """The value in a lake that was created without the option."""
        return self.default if self.values is None else self.values[0]


@dataclass(frozen=True, slots=True)
class RunOption:
    """An option that a dialect adds to commands.

    `name` has no dashes. `is_file`: the value is a path, and the dialect gets the bytes of the file. `is_list`: the
    option can be repeated. `sticky` (only files): the file applies to all later runs until one is given another file;
    the value `none` removes it; the dialect gets it as a parameter of its reducer.
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
    """A given option: its text, and the bytes of the file that the text names, or None."""

    text: str
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class DialectInfo:
    """One journal format, described without Spark and without importing the dialect.

    `load` names the `Dialect` object, as `module:attribute`. `kinds` are its kinds of namespaces. `record_table` is the
    table of accepted records, `side_tables` are tables of what records need, `reduced_tables` are in the order of
    writing (without `namespace_state`). `formats` are the file formats by name, each with the file name endings of it;
    empty if the content shows the format. `export_format` is the format that `export` writes, if formats depend on
    names; `export_formats` are others, which the name of the file or `--format` chooses. `message_format` is that of a
    Kafka message, one line. `health` (queries of what is missing), `drawing` (how records are drawn) and `unpacking`
    (how a node's folder becomes a file) name objects as `module:attribute`, or are None. `erasable` is the column of
    the record table that `gc --erase` sets to null, together with the time in `erased_at`; None if there is none.
    `refuses_lost`: a namespace that lacks a record which others name is refused, also if no record was pruned.
    """

    name: str
    load: str
    kinds: tuple[str, ...]
    record_table: str
    side_tables: tuple[str, ...] = ()
    reduced_tables: tuple[str, ...] = ()
    formats: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    export_format: str | None = None
    export_formats: tuple[str, ...] = ()
    message_format: str | None = None
    lake_options: tuple[LakeOption, ...] = ()
    run_options: tuple[RunOption, ...] = ()
    health: str | None = None
    drawing: str | None = None
    unpacking: str | None = None
    erasable: str | None = None
    refuses_lost: bool = False

    @property
    def ingest_tables(self) -> tuple[str, ...]:
        """The tables that ingest writes records to: all have namespace, bucket and record_id."""
        return (self.record_table, *self.side_tables)

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that ingest and reductions of the dialect write, without those of all dialects."""
        return (*self.ingest_tables, *self.reduced_tables)

    @property
    def written_formats(self) -> tuple[str, ...]:
        """The formats that `export` can write, its own first; empty if formats do not depend on names."""
        return () if self.export_format is None else (self.export_format, *self.export_formats)

    @property
    def sticky_options(self) -> tuple[RunOption, ...]:
        """The options whose file applies until a later run is given another one."""
        return tuple(option for option in self.run_options if option.sticky)
