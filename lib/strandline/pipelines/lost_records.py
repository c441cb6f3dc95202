"""Finds the dialects that have lost their records: their reduced rows must go, though there is nothing to reduce."""

from __future__ import annotations

from collections.abc import Iterable

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.dialect import Dialect
from strandline.tables.reduced_versions import may_be_updated, reduced_dialects
from strandline.tables.store import TableStore


def lost_dialects(store: TableStore, dialects: Iterable[Dialect]) -> set[str]:
    """Return the names of those dialects, without records, that have lost what was reduced: by RESTORE, for example.

    Some records have a state, but no other reduced row, and of a table that `init` made anew only the states tell.
    A table that never had records asks for no state.
    """
    found, asked = set(), set()
    is_updated = bool(store.stored_bytes(STATES)) and may_be_updated(store)
    for info in (dialect.info for dialect in dialects):
        version = store.version(info.record_table)
        if version and any(map(store.stored_bytes, info.reduced_tables)):
            found.add(info.name)
        elif is_updated or (version and store.may_have_added(info.record_table, -1, version)):
            asked.add(info.name)
    return found | (asked & reduced_dialects(store) if asked else asked)
