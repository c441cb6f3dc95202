"""Settings files: finds them in the wheel or the checkout, and reads them with the line of every key."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

from strandline.core.errors import UsageError
from strandline.core.limits import MAX_SETTING_VALUES
from strandline.core.safe_files import open_file

MAX_FILE_BYTES = 1 << 20
MAX_SCALAR_CHARS = 4096
_FORMAT = "write sections with keys below them, as in `tables: {buckets: 32}`; `strandline config` lists all settings"
"""The next step for a file that is no settings. The wheel has conf/base.yaml where nobody looks."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of a settings file, with its dotted key and its line.

    The key is only the section's name if a value is in the place of a section. `section_place` is the line on which
    the section begins.
    """

    key: str
    value: Any
    place: str
    section_place: str


def _folder() -> Traversable:
    """Return the folder of the packaged settings: inside the package in a wheel, at the root in a checkout."""
    inside = files("strandline").joinpath("conf")
    return inside if inside.is_dir() else Path(__file__).parents[3] / "conf"


def packaged() -> tuple[str, ...]:
    """Return the names of the settings files that come with Strandline, ascending."""
    return tuple(sorted(file.name[:-5] for file in _folder().iterdir() if file.name.endswith(".yaml")))


def packaged_text(name: str) -> str:
    """Return the text of the settings file `name`, one of `packaged()`."""
    return _folder().joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def read(path: Path) -> str:
    """Return the text of the operator's settings file.

    Raises: UsageError `CONF_NOT_FOUND` if it cannot be opened, `CONF_INVALID` if it is not UTF-8 or larger than 1 MiB.
    """
    try:
        with open_file(path) as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise UsageError(
            "CONF_NOT_FOUND",
            f"the settings file {path} cannot be read: {error.strerror}",
            "name a file that you can read, or give settings by --set; `strandline config` lists them",
        ) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = None
    if len(raw) > MAX_FILE_BYTES:
        raise UsageError("CONF_INVALID", f"{path} is larger than 1 MiB, so it is no settings file", _FORMAT)
    if text is None:
        raise UsageError("CONF_INVALID", f"{path} is not UTF-8, so it is no settings file", _FORMAT)
    return text


class _Loader(yaml.SafeLoader):
    """A YAML reader with bounds: no aliases, no tags, a maximum of nodes and of characters of a scalar.

    Aliases in merge keys would multiply, numbers in base 60 take quadratic time, and a tag before a text that is no
    such value fails with any exception.
    """

    _composed = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]  # types-PyYAML leaves it out
        self._composed += 1
        problem = None
        if isinstance(event, yaml.AliasEvent):
            problem = "aliases are not allowed"
        elif getattr(event, "tag", None) is not None:
            problem = "tags are not allowed"
        elif self._composed > MAX_SETTING_VALUES:
            problem = f"more than {MAX_SETTING_VALUES} values"
        elif isinstance(event, yaml.ScalarEvent) and len(event.value) > MAX_SCALAR_CHARS:
            problem = f"a value of more than {MAX_SCALAR_CHARS} characters"
        if problem is not None:
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
        return super().compose_node(parent, index)


def _invalid(name: str, mark: yaml.Mark | None, what: str) -> UsageError:
    place = f"{name}:{mark.line + 1}" if mark is not None else name
    return UsageError("CONF_INVALID", f"{place}: {what}", _FORMAT)


def _pairs(node: yaml.Node, name: str) -> Iterator[tuple[str, yaml.Node, str]]:
    """Yield key, value node and line of each pair of a mapping. Raises: UsageError for a repeated or nested key."""
    if not isinstance(node, yaml.MappingNode):
        raise _invalid(name, node.start_mark, "a mapping is expected here")
    seen: set[str] = set()
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _invalid(name, key.start_mark, "a key must be a plain word")
        text = str(key.value)
        if text in seen:
            raise _invalid(name, key.start_mark, f"the key {text} is repeated")
        seen.add(text)
        yield text, value, f"{name}:{key.start_mark.line + 1}"


def entries(text: str, name: str) -> tuple[Entry, ...]:
    """Return the entries of the YAML `text` in its order.

    Raises: UsageError `CONF_INVALID` with file and line for anything but a YAML mapping of mappings.
    """
    found: list[Entry] = []
    loader: _Loader | None = None
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None:
            return ()
        for section, node, place in _pairs(root, name):
            if not isinstance(node, yaml.MappingNode):
                found.append(Entry(section, loader.construct_object(node, deep=True), place, place))
                continue
            found.extend(
                Entry(f"{section}.{key}", loader.construct_object(value, deep=True), at, place)
                for key, value, at in _pairs(node, name)
            )
    except yaml.MarkedYAMLError as error:
        raise _invalid(name, error.problem_mark, f"this is not YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _invalid(name, None, f"this is not YAML: {type(error).__name__}") from None
    finally:
        if loader is not None:
            loader.dispose()
    return tuple(found)


def value_of(text: str) -> Any:
    """Return the value of a text from a shell, read as YAML; the text itself if it is not YAML."""
    try:
        return _Loader(text).get_single_data()
    except (yaml.YAMLError, ValueError, RecursionError):
        return text
