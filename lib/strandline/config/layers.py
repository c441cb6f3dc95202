"""Merges the layers of settings; each error names the place of the wrong value."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from strandline.config import documents
from strandline.config.settings import Settings, expected, is_text, keys, sections
from strandline.core.errors import UsageError
from strandline.core.nearest import did_you_mean, nearest

ENVIRONMENT_PREFIX = "STRANDLINE_"
SIGNING_KEY = "STRANDLINE_CHECKPOINT_KEY"
# Variables with the prefix that are not settings: a secret; fault points and test vectors, only for tests.
RESERVED_VARIABLES = frozenset({SIGNING_KEY, "STRANDLINE_FAULT", "STRANDLINE_VECTORS"})


@dataclass(frozen=True, slots=True)
class Layer:
    """Values of one source by dotted key, and the place of each (`prod.yaml:3`)."""

    values: Mapping[str, Any]
    places: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Effective:
    """The settings in use; `places` maps each dotted key to the source of its value."""

    settings: Settings
    places: Mapping[str, str]


def _check_known(key: str, place: str) -> None:
    if key not in keys():
        raise UsageError("SETTING_UNKNOWN", f"{place}: there is no setting {key}", did_you_mean(key, keys()))


def document_layer(text: str, name: str) -> Layer:
    """Return the layer of one YAML text; `name` is the file's name, for messages.

    Raises: UsageError `CONF_INVALID` (not YAML, not a mapping, a repeated key), `SETTING_UNKNOWN`; each names the line.
    """
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    for entry in documents.entries(text, name):
        section, _, key = entry.key.partition(".")
        if section not in sections():
            raise UsageError(
                "SETTING_UNKNOWN",
                f"{entry.section_place}: there is no section {section}",
                did_you_mean(section, sections()),
            )
        if not key:
            raise UsageError(
                "SETTING_INVALID",
                f"{entry.place}: {section} is a section of settings, not a value, and cannot be {entry.value!r}",
                f"write {section}: and on the next line, indented, {next(iter(sections()[section].model_fields))}: …",
            )
        _check_known(entry.key, entry.place)
        values[entry.key], places[entry.key] = entry.value, entry.place
    return Layer(values, places)


def file_layer(path: Path | None, environment: str | None) -> Layer:
    """Return the layer of `--conf PATH` or of `--env NAME` (`conf/NAME.yaml`); empty if neither is given.

    Raises: UsageError `CONF_TWICE`, `CONF_NOT_FOUND`, `ENV_UNKNOWN`, and those of `document_layer`.
    """
    if path is not None and environment is not None:
        raise UsageError("CONF_TWICE", "--conf and --env both name a settings file", "give one of them")
    if path is not None:
        return document_layer(documents.read(path), str(path))
    if environment is not None:
        names = [name for name in documents.packaged() if name != "base"]
        if environment not in names:
            raise UsageError(
                "ENV_UNKNOWN",
                f"there are no settings named {environment!r}",
                did_you_mean(environment, names),
            )
        return _packaged_layer(environment)
    return Layer({}, {})


@functools.cache
def _packaged_layer(name: str) -> Layer:
    return document_layer(documents.packaged_text(name), f"conf/{name}.yaml")


def _from_text(key: str, text: str) -> Any:
    """Return the value that `text` gives the setting `key`: itself for a text, else read as YAML."""
    return text if is_text(key) else documents.value_of(text)


def _variable(key: str) -> str:
    """Return the variable that gives the setting `key`."""
    return ENVIRONMENT_PREFIX + key.upper().replace(".", "__")


def environment_layer(environ: Mapping[str, str]) -> Layer:
    """Return the layer of the variables `STRANDLINE_<SECTION>__<KEY>`.

    Raises: UsageError `SETTING_UNKNOWN` for any other variable with the prefix that is not reserved.
    """
    by_variable = {_variable(key): key for key in keys()}
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    for variable in sorted(environ):
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable in RESERVED_VARIABLES:
            continue
        key = by_variable.get(variable)
        if key is None:
            # Without the prefix, which is much of the name and makes any two alike.
            best = nearest(
                variable.removeprefix(ENVIRONMENT_PREFIX),
                (known.removeprefix(ENVIRONMENT_PREFIX) for known in by_variable),
            )
            raise UsageError(
                "SETTING_UNKNOWN",
                f"environment: {variable} is not a setting",
                f"did you mean {ENVIRONMENT_PREFIX}{best}?"
                if best
                else "`strandline config` lists all settings",
            )
        values[key], places[key] = _from_text(key, environ[variable]), f"environment {variable}"
    return Layer(values, places)


def options_layer(options: Iterable[str]) -> Layer:
    """Return the layer of `--set SECTION.KEY=VALUE` options, the last one of a key wins.

    Raises: UsageError `SETTING_INVALID` without `=`, `SETTING_UNKNOWN`.
    """
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    for option in options:
        key, equals, text = option.partition("=")
        if not equals:
            raise UsageError(
                "SETTING_INVALID",
                f"--set {option} has no value",
                "write --set SECTION.KEY=VALUE, for example --set tables.buckets=32",
            )
        _check_known(key, "--set")
        values[key], places[key] = _from_text(key, text), "command line"
    return Layer(values, places)


def effective(layers: Sequence[Layer]) -> Effective:
    """Return the settings of base.yaml and `layers`; a later layer overrides an earlier one.

    Raises: UsageError `SETTING_INVALID` with the place of a value of a wrong type or out of range.
    """
    base = _packaged_layer("base")
    values, places = dict(base.values), dict(base.places)
    for layer in layers:
        values.update(layer.values)
        places.update(layer.places)
    nested: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        section, _, name = key.partition(".")
        nested.setdefault(section, {})[name] = value
    try:
        return Effective(Settings.model_validate(nested), places)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"][:2])
        place, default = places.get(key, "conf/base.yaml"), base.values.get(key)
        raise UsageError(
            "SETTING_INVALID",
            f"{place}: {key} is {values.get(key)!r}, but must be {expected(key)}",
            f"give it by --set {key}=VALUE or the variable {_variable(key)}: the default is "
            f"{str(default).lower() if isinstance(default, bool) else default}, "
            "and `strandline config` lists all settings",
        ) from None


def defaults() -> Settings:
    """Return the settings of conf/base.yaml only."""
    return effective(()).settings


def with_home(settings: Settings, home: str) -> Settings:
    """Return `settings` with `~` in its folders replaced by `home`."""
    spark = settings.spark
    folders = {
        name: home + folder[1:]
        for name, folder in (("cache", spark.cache), ("state", spark.state))
        if folder == "~" or folder.startswith("~/")
    }
    return settings.model_copy(update={"spark": spark.model_copy(update=folders)})
