"""Errors of a lake that cannot be opened, shared by Spark and delta-rs. Needs no Spark."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from strandline.contracts.ddl import BUCKETS_PROPERTY, CONTRACT_PROPERTY
from strandline.contracts.load import contract, tables
from strandline.contracts.quoting import MAX_BUCKETS
from strandline.core.errors import FaultError, UsageError
from strandline.tables.location import Location, option_of

_VERSION: Final = re.compile(r"(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2}")
_BUCKETS: Final = re.compile(r"[1-9][0-9]{0,8}")


def lake_not_found(location: Location) -> UsageError:
    """Return the error of a location without a lake."""
    name = location.describe()
    return UsageError(
        "LAKE_NOT_FOUND",
        f"there is no lake at {name}",
        f"create one: `strandline init {option_of(name)}`",
    )


def lake_unreadable(location: Location, found: str) -> FaultError:
    """Return the error of a lake in a store that does not answer, or refuses: `found` is its answer."""
    return FaultError(
        "LAKE_UNREADABLE",
        f"the lake {location.describe()} cannot be read: {found}",
        "check its credentials and region, for S3 AWS_ACCESS_KEY_ID, AWS_REGION and AWS_ENDPOINT_URL "
        "(and AWS_ALLOW_HTTP=true for a server without TLS), and run the command again",
    )


def not_readable(location: Location, place: str) -> FaultError:
    """Return the error of a local lake with a file that this user may not read: it need not be damaged."""
    return FaultError(
        "NOT_READABLE",
        f"the lake {location.describe()} cannot be read: this user may not read {place}",
        "give the user read access to all files of the lake, and run the command again",
    )


def lake_no_folder(location: Location) -> UsageError:
    """Return the error of a local lake that is a file."""
    return UsageError(
        "LAKE_NO_FOLDER",
        f"the lake {location.describe()} is not a folder",
        "give --lake a folder or a new path",
    )


def lake_foreign(location: Location, name: str) -> UsageError:
    """Return the error of a folder that has other files, or of a schema that has another table of a lake's name."""
    if not location.is_path():
        return UsageError(
            "LAKE_FOREIGN",
            f"the schema {location.describe()} has another table or view by a name of the lake's: {name}",
            "rename it, or name another schema with --schema",
        )
    return UsageError(
        "LAKE_FOREIGN",
        f"the folder {location.describe()} has other files: {name}",
        "give --lake a new or empty folder",
    )


def check_place(location: Location, *, makes: bool) -> None:
    """Check the path of a local lake; `makes` says whether the command creates a lake that does not exist.

    Missing tables of an existing folder are found when it is opened.
    Raises: UsageError LAKE_NOT_FOUND, LAKE_NO_FOLDER, LAKE_FOREIGN; FaultError NOT_WRITABLE.
    """
    if not location.is_local():
        return
    root = location.local_path()
    if not os.path.exists(root):
        if os.path.islink(root):
            raise UsageError(
                "LAKE_NO_FOLDER",
                f"the lake {root} is a link to nothing",
                "create the folder that it names, or give --lake another path",
            )
        if not makes:
            raise lake_not_found(location)
        _check_parent(root)
    elif not os.path.isdir(root):
        raise lake_no_folder(location)
    elif not any(os.path.isdir(root / table) for table in tables()):
        foreign = sorted(name for name in os.listdir(root) if not name.startswith((".", "_")))
        if foreign:
            raise lake_foreign(location, foreign[0])
        if not makes:
            raise lake_not_found(location)


def _check_parent(root: Path) -> None:
    """Check that the folder `root` can be created: its nearest existing parent is a writable folder."""
    parent = next(each for each in root.parents if os.path.lexists(each))
    if not os.path.isdir(parent):
        raise UsageError(
            "LAKE_NO_FOLDER",
            f"the lake {root} cannot be created: {parent} is not a folder",
            "give --lake a path below a folder",
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise FaultError(
            "NOT_WRITABLE",
            f"the lake {root} cannot be created: {parent} is not writable",
            "give write access, or name another folder with --lake",
        )


def catalog_unknown(location: Location) -> UsageError:
    """Return the error of a catalog that the session does not have."""
    return UsageError(
        "CATALOG_UNKNOWN",
        f"this Spark session has no catalog {location.catalog}",
        "name one that it has: `SHOW CATALOGS` lists them, and spark_catalog is the one of the session",
    )


def catalog_unreadable(location: Location, cause: str) -> FaultError:
    """Return the error of a catalog, or its metastore, that does not answer or refuses; `cause` is a name, no text."""
    return FaultError(
        "CATALOG_UNREADABLE",
        f"the catalog of {location.describe()} cannot be read: {cause}",
        "check that its server runs, and that this session has its address and may use the schema, and run the command "
        "again; the log of Spark has the cause",
    )


def catalog_refused(location: Location, what: str, cause: str) -> FaultError:
    """Return the error of a catalog that does not create the schema, a table or a view of a lake."""
    return FaultError(
        "CATALOG_REFUSED",
        f"the catalog of {location.describe()} does not create {what}: {cause}",
        "ask its owner for the right to create schemas, tables and views, or name with --schema a schema of a catalog "
        "that keeps tables of Delta and views",
    )


def table_missing(location: Location, table: str) -> UsageError:
    """Return the error of a lake that lacks a table."""
    return UsageError(
        "TABLE_MISSING",
        f"the table {table} is missing in {location.describe()}",
        f"create it: `strandline init {option_of(location.describe())}` keeps the existing tables",
    )


UPGRADE_OR_DROP: Final = (
    "use a version of Strandline, Spark and Delta that knows it, or remove it by `ALTER TABLE .. DROP FEATURE` with "
    "the program that added it; the rows are intact"
)
"""The next step for a table with a feature that nothing here reads or writes."""


def table_unsupported(location: Location, table: str, found: str) -> FaultError:
    """Return the error of a table with a feature or protocol version of Delta that is unknown here; it is no damage."""
    return FaultError(
        "TABLE_UNSUPPORTED",
        f"the table {table} of {location.describe()} has a feature of Delta that is unknown here: {found}",
        UPGRADE_OR_DROP,
    )


IN_CATALOG: Final = "belongs to a catalog, and only the catalog knows its newest commits"
BY_SCHEMA: Final = "name the lake by its schema, with --schema"
"""What is said of a table that its catalog manages, and the next step."""
LEFT_TO_CATALOG: Final = "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION"
"""Delta's condition: nobody but the catalog compacts or vacuums a table whose commits go through it."""


def table_in_catalog(location: Location, table: str) -> FaultError:
    """Return the error of a table in a folder or store whose commits a catalog manages."""
    return FaultError(
        "TABLE_UNSUPPORTED", f"the table {table} of {location.describe()} {IN_CATALOG}", BY_SCHEMA
    )


def check_properties(location: Location, properties: Mapping[str, Mapping[str, str]]) -> None:
    """Check that the properties of the tables are of this version or an older one.

    These hold:
    - `strandline.contract` of each table is a version of three numbers with a known major version;
    - `strandline.buckets` of each table with buckets is a whole number from 1 to 65,536, the same for all.

    Raises: UsageError CONTRACT_NEWER, PROPERTY_INVALID.
    """
    counts: dict[int, str] = {}
    for table, stated in properties.items():
        _check_contract(location, table, stated.get(CONTRACT_PROPERTY, ""))
        if contract(table).is_bucketed:
            counts.setdefault(buckets_of(location, table, stated), table)
    if len(counts) > 1:
        (first, one), (second, other), *_ = counts.items()
        raise UsageError(
            "PROPERTY_INVALID",
            f"in {location.describe()} the table {one} has {first} buckets and {other} has {second}",
            "restore the lake's folder from a copy: all tables of a lake have the same number of buckets",
        )


def older_tables(properties: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """Return the tables with an older contract than that of this version; call `check_properties` first."""
    return tuple(
        table
        for table, stated in properties.items()
        if _numbers(stated[CONTRACT_PROPERTY]) < _numbers(contract(table).version)
    )


def contract_older(location: Location, table: str) -> UsageError:
    """Return the error of a lake with a table of an older contract."""
    return UsageError(
        "CONTRACT_OLDER",
        f"the table {table} of {location.describe()} has an older contract than {contract(table).version}, "
        "the version that this Strandline writes",
        f"`strandline init {option_of(location.describe())}` adds the missing columns and keeps all rows",
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def buckets_of(location: Location, table: str, properties: Mapping[str, str]) -> int:
    """Return the number of buckets that a table states. Raises: UsageError PROPERTY_INVALID."""
    stated = properties.get(BUCKETS_PROPERTY, "")
    if _BUCKETS.fullmatch(stated) is None or int(stated) > MAX_BUCKETS:
        raise _property_invalid(
            location, table, BUCKETS_PROPERTY, stated, f"a number from 1 to {MAX_BUCKETS:,}"
        )
    return int(stated)


def _check_contract(location: Location, table: str, stated: str) -> None:
    if _VERSION.fullmatch(stated) is None:
        raise _property_invalid(location, table, CONTRACT_PROPERTY, stated, "a version like 1.0.0")
    ours = contract(table).version
    if int(stated.partition(".")[0]) > int(ours.partition(".")[0]):
        raise UsageError(
            "CONTRACT_NEWER",
            f"the table {table} of {location.describe()} has contract version {stated}, this Strandline knows {ours}",
            "use the newer version of Strandline that created it",
        )


def _property_invalid(location: Location, table: str, name: str, stated: str, wanted: str) -> UsageError:
    return UsageError(
        "PROPERTY_INVALID",
        f"the property {name} of the table {table} of {location.describe()} is {stated!r}, not {wanted}",
        "if the table was replaced, restore the version before with `RESTORE TABLE .. TO VERSION AS OF`; else copy "
        "the table from a backup of the lake, or name another lake",
    )
