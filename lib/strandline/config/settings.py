"""Names and types of the settings. The defaults are in conf/base.yaml."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=1, le=2**62)]
"""A number that Java takes as a long."""
IntOfJava = Annotated[int, Field(ge=1, le=2**31 - 1)]
Bytes = Count
KeptBytes = Annotated[int, Field(ge=1_024, le=2**62)]
"""Bytes stored of a record: more than any valid journal line, so that the head of a long line is never valid."""
AnswerLines = Annotated[int, Field(ge=50_000, le=2**62)]
"""At least the lines of one answer, so that the first request of a file always has room."""
Seconds = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1)]
_BOUNDS = ("ge", "gt", "le", "pattern")


class Section(BaseModel):
    """A group of settings: immutable, no unknown key, no value of another type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Limits(Section):
    """Limits of untrusted input."""

    decompressed_bytes: Bytes
    ratio: Count
    files: Count
    deferred_per_namespace: Count
    quarantine_raw_bytes: KeptBytes
    quarantine_raw_head: KeptBytes
    walk_entries: Count
    answer_lines: AnswerLines


class Read(Section):
    """How input files are read."""

    lines_min_bytes: Bytes
    split_bytes: Bytes


class Stream(Section):
    """How `stream` follows a folder, a prefix of a store or a topic."""

    max_files: IntOfJava
    max_records: Count
    compact_every: Annotated[int, Field(ge=0, le=1_000_000)]


class Tables(Section):
    """The layout of new tables."""

    buckets: Annotated[int, Field(ge=1, le=65_536)]
    deletion_vectors: bool


class Merge(Section):
    """How a commit is retried after a conflict with another writer, and whether other drivers write."""

    attempts: Count
    base_delay_seconds: Seconds
    max_delay_seconds: Seconds
    several_drivers: bool


class Maintain(Section):
    """What `maintain` compacts and how long it keeps old versions."""

    keep_days: Annotated[int, Field(ge=7, le=36_500)]
    small_files: Annotated[int, Field(ge=2, le=1_000_000)]
    small_bytes: Bytes
    target_bytes: Bytes


class Spark(Section):
    """The local Spark session."""

    master: Text
    driver_memory: Annotated[str, Field(pattern=r"^[1-9][0-9]*[kmgKMG]$")]
    shuffle_partitions: IntOfJava
    cache: Text
    state: Text


class Progress(Section):
    """How progress is shown."""

    seconds: Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class Settings(Section):
    """Every setting of Strandline; `strandline.config.effective` merges it from layers."""

    limits: Limits
    read: Read
    stream: Stream
    tables: Tables
    merge: Merge
    maintain: Maintain
    spark: Spark
    progress: Progress


def sections() -> dict[str, type[Section]]:
    """Return the sections by name."""
    found: dict[str, type[Section]] = {}
    for name, field in Settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            found[name] = field.annotation
    return found


def keys() -> tuple[str, ...]:
    """Return the dotted names of all settings, in the order of conf/base.yaml."""
    return tuple(f"{name}.{key}" for name, section in sections().items() for key in section.model_fields)


def is_text(key: str) -> bool:
    """Return whether the setting `key` is a text, so that a value from a shell is not read as YAML."""
    name, _, field = key.partition(".")
    return sections()[name].model_fields[field].annotation is str


def expected(key: str) -> str:
    """Return the values that the setting `key` allows, in words."""
    name, _, setting = key.partition(".")
    field = sections()[name].model_fields[setting]
    bounds = {
        kind: getattr(part, kind)
        for part in field.metadata
        for kind in _BOUNDS
        if getattr(part, kind, None) is not None
    }
    if field.annotation is bool:
        return "true or false"
    if field.annotation is str:
        return (
            "a number with k, m or g, for example 2g" if "pattern" in bounds else "a text that is not empty"
        )
    number = "a whole number" if field.annotation is int else "a number"
    if "gt" in bounds:
        return f"{number} above {bounds['gt']} and up to {bounds['le']}"
    return f"{number} from {bounds['ge']} to {bounds['le']}"
