"""Where the tables of a lake are: a folder (or URI) or a schema of a catalog."""

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from strandline.contracts.quoting import is_legal_name
from strandline.core.errors import UsageError

DEFAULT_LAKE = "lake"
_NOT_OPENED = re.compile(r"%[0-9A-Fa-f]{2}|[\\\[\]^|\x00-\x1f\x7f\ud800-\udfff]")
"""What delta-rs decodes in a path of this machine, also in a URI of it, or does not write."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


@dataclass(frozen=True, slots=True)
class Location:
    """One lake: either `path` (a folder or any URI that Spark opens) or `catalog` and `schema_name`."""

    path: str | None = None
    catalog: str | None = None
    schema_name: str | None = None

    @staticmethod
    def lake(path: str) -> "Location":
        """Return the lake in the folder or under the URI `path`.

        A path becomes absolute, so that a later change of the working folder does not change the lake.
        Raises: UsageError `LAKE_PATH_INVALID` for an empty path, one with NUL or a line end, or a folder that delta-rs
            would look for in another place, or not write.
        """
        if not path.strip() or any(sign in path for sign in "\x00\r\n"):
            raise UsageError(
                "LAKE_PATH_INVALID",
                f"--lake {path!r} is not a folder or URI",
                "give a folder or a URI, for example --lake lake",
            )
        if path.lower().startswith("file:/"):
            path = urlsplit(path).path
        if _SCHEME.match(path):
            return Location(path=path.rstrip("/"))
        absolute = str(Path(path).absolute())
        # delta-rs follows links first.
        if _NOT_OPENED.search(os.path.realpath(absolute)):
            raise UsageError(
                "LAKE_PATH_INVALID",
                f"the lake {absolute} cannot be opened: its path has one of [ ] ^ | and backslash, a control "
                "character, a % before two hex digits, or a byte that is not UTF-8, which delta-rs refuses or reads "
                "as another path",
                "name a folder without them",
            )
        return Location(path=absolute)

    @staticmethod
    def schema(catalog: str, schema: str) -> "Location":
        """Return the lake in the schema `catalog`.`schema`.

        Raises: UsageError `SCHEMA_NAME_INVALID` unless both match `[A-Za-z_][A-Za-z0-9_]{0,127}`.
        """
        for name in (catalog, schema):
            if not is_legal_name(name):
                raise UsageError(
                    "SCHEMA_NAME_INVALID",
                    f"{name!r} is not a valid name of a catalog or schema",
                    "use letters, digits and _, for example --schema main.strandline",
                )
        return Location(catalog=catalog, schema_name=schema)

    @staticmethod
    def parse_schema(text: str) -> "Location":
        """Return the location of `CATALOG.SCHEMA`. Raises: as `schema`."""
        catalog, dot, name = text.partition(".")
        if not dot:
            raise UsageError(
                "SCHEMA_NAME_INVALID",
                f"{text!r} does not name a catalog and a schema",
                "give both, for example --schema main.strandline",
            )
        return Location.schema(catalog, name)

    @staticmethod
    def chosen(path: str | None, schema: str | None) -> "Location":
        """Return the lake at `path`, or in the schema `CATALOG.SCHEMA`; by default the folder `lake`.

        Raises: UsageError `LAKE_AND_SCHEMA` if both are given; as `lake` and `parse_schema`.
        """
        if path is not None and schema is not None:
            raise UsageError(
                "LAKE_AND_SCHEMA",
                f"the lake {path} and the schema {schema} both say where the tables are",
                "give one of them",
            )
        return (
            Location.lake(DEFAULT_LAKE if path is None else path)
            if schema is None
            else Location.parse_schema(schema)
        )

    @staticmethod
    def named(text: str) -> "Location":
        """Return the lake that `text` names: CATALOG.SCHEMA, unless a folder has that name, else a path.

        Raises: UsageError `LAKE_PATH_INVALID`.
        """
        catalog, _, schema = text.partition(".")
        if is_legal_name(catalog) and is_legal_name(schema) and not Path(text).is_dir():
            return Location(catalog=catalog, schema_name=schema)
        return Location.lake(text)

    def is_same(self, other: "Location") -> bool:
        """Return whether both name one lake. Follows links; names of schemas are case-insensitive."""
        if self.path is None or other.path is None:
            return self.describe().lower() == other.describe().lower()
        if self.is_local() and other.is_local():
            return self.local_path().resolve() == other.local_path().resolve()
        return self.path == other.path

    def describe(self) -> str:
        """Return the text that names this lake in reports: its path, or `CATALOG.SCHEMA`."""
        return self.path if self.path is not None else f"{self.catalog}.{self.schema_name}"

    def is_path(self) -> bool:
        """Return whether the lake is a folder or URI, not a schema."""
        return self.path is not None

    def is_local(self) -> bool:
        """Return whether the lake is a folder of this machine."""
        return self.path is not None and not _SCHEME.match(self.path)

    def scheme(self) -> str | None:
        """Return the scheme of the lake's URI in lower case, None for a folder or a schema."""
        found = None if self.path is None else _SCHEME.match(self.path)
        return None if found is None else found[0].rstrip(":/").lower()

    def table_path(self, table: str) -> str:
        """Return the folder or URI of `table`; `table` is a contract's name, never data.

        Raises: ValueError for a lake in a schema: its catalog has the path.
        """
        if self.path is None:
            raise ValueError(f"{self.describe()} is a schema: its catalog has the path of {table}")
        return f"{self.path}/{table}"

    def local_path(self) -> Path:
        """Return the folder of a local lake. Raises: ValueError for any other."""
        if self.path is None or not self.is_local():
            raise ValueError(f"{self.describe()} is not a folder of this machine")
        return Path(self.path)


def option_of(name: str) -> str:
    """Return the option that names a lake on a command line, quoted for a shell; `name` is its `Location.describe`.

    A path is absolute or a URI, so it has a slash; the name of a schema has none.
    """
    return f"{'--lake' if '/' in name else '--schema'} {shlex.quote(name)}"
