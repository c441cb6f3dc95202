"""The relations that a query can read: tables and views of one lake, by name and by path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strandline.contracts.load import tables
from strandline.contracts.views import view_names
from strandline.dialects import every
from strandline.session.classic.plans import items
from strandline.tables.location import Location
from strandline.tables.views import CATALOG, SCHEMA, names


@dataclass(frozen=True, slots=True)
class QueryScope:
    """The relations of one lake, and the table functions of the dialects."""

    location: Location

    @property
    def schema(self) -> tuple[str, str]:
        """Catalog and schema of the bare names."""
        if self.location.catalog is None or self.location.schema_name is None:
            return CATALOG, SCHEMA
        return self.location.catalog.casefold(), self.location.schema_name.casefold()

    @property
    def table_functions(self) -> frozenset[str]:
        """Names of the table functions of dialects."""
        return frozenset(name for dialect in every() for name in dialect.table_functions)

    def knows(self, parts: Sequence[str]) -> bool:
        """Return whether a name of one, two or three parts is a table or view of the lake."""
        *where, name = (part.casefold() for part in parts)
        return name in names() and self._is_schema(where)

    def may_name(self, parts: Sequence[str]) -> bool:
        """Return whether a name can be resolved: one of the lake, or a bare one, which is never a file."""
        return len(parts) == 1 or self.knows(parts)

    def is_schema(self, parts: Sequence[str]) -> bool:
        """Return whether a name is the lake's schema."""
        where = [part.casefold() for part in parts]
        return bool(where) and self._is_schema(where)

    def has_view(self, view: Any) -> bool:
        """Return whether a resolved view is one of the lake; Strandline makes the temporary views of these names."""
        identifier = view.desc().identifier()
        name = str(identifier.table())
        if view.isTempView():
            return name in names()
        return name in view_names() and self._is_schema(_where(identifier))

    def has_table(self, relation: Any) -> bool:
        """Return whether a resolved relation reads a table of the lake."""
        catalog_table = relation.catalogTable()
        if catalog_table.isDefined():
            identifier = catalog_table.get().identifier()
            return str(identifier.table()) in tables() and self._is_schema(_where(identifier))
        if not self.location.is_path():
            return False
        paths = {self.location.table_path(table) for table in tables()}
        read = relation.relation()
        if not str(read.getClass().getName()).endswith(".HadoopFsRelation"):
            return False
        return all(str(path).removeprefix("file:") in paths for path in items(read.location().rootPaths()))

    def _is_schema(self, where: Sequence[str]) -> bool:
        return list(where) == list(self.schema)[len(self.schema) - len(where) :]


def _where(identifier: Any) -> list[str]:
    """Return catalog and schema of a name, if it has them."""
    parts = (identifier.catalog(), identifier.database())
    return [str(part.get()).casefold() for part in parts if part.isDefined()]
