"""Which names in a schema are a lake's, and what is said when a catalog refuses."""

from types import SimpleNamespace

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException

from strandline.contracts.load import contract, tables
from strandline.core.errors import FaultError, UsageError
from strandline.tables.catalogs import SchemaNames, foreign_names, names_in, refusals
from strandline.tables.location import Location
from strandline.tables.reads import TableReads

OURS = Location.parse_schema("main.ours")
STATED = {"strandline.contract": "1.0.0"}


def names(tables_: str = "", views: str = "") -> SchemaNames:
    return SchemaNames(frozenset(tables_.split()), frozenset(views.split()))


def refused(condition: str | None, text: str = "") -> AnalysisException:
    return AnalysisException(message=text, errorClass=condition, messageParameters={})


@pytest.mark.parametrize(
    ("there", "properties", "foreign"),
    [
        (names("orders", "sales"), {}, ()),
        (names("run node_journal"), {"run": STATED, "node_journal": STATED}, ()),
        (names("run", "namespace_health"), {"run": STATED}, ()),
        (names("run"), {"run": None}, ("run",)),
        (names("run"), {"run": {"owner": "them"}}, ("run",)),
        (names("run node_journal"), {"run": STATED, "node_journal": None}, ("node_journal",)),
        (names(views="run"), {}, ("run",)),
        (names("namespace_health run"), {"run": STATED}, ("namespace_health",)),
        (names(views="namespace_health"), {}, ("namespace_health",)),
    ],
)
def test_a_name_of_the_lake_that_others_have_taken_is_foreign(there, properties, foreign):
    assert foreign_names(there, properties) == foreign


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (refused("PERMISSION_DENIED", "jdbc:x;password=secret"), "PERMISSION_DENIED"),
        (refused("_LEGACY_ERROR_TEMP_3065", "x.HiveException: MetaException(m:password=secret)"), "MetaException"),
        (refused("_LEGACY_ERROR_TEMP_3065", "password=secret"), "AnalysisException"),
    ],
)  # fmt: skip
def test_a_refusal_names_what_was_not_created_and_no_text_of_the_catalog(error, cause):
    with pytest.raises(FaultError) as told, refusals(OURS, "the table run"):
        raise error
    assert told.value.code == "CATALOG_REFUSED"
    assert told.value.message == f"the catalog of main.ours does not create the table run: {cause}"
    assert "secret" not in str(told.value)


def test_a_catalog_that_wants_its_tables_otherwise_is_named_with_the_property():
    # Delta 4.4.0 of the open Unity Catalog: an error of Java without a condition.
    error = IllegalArgumentException(
        "Cannot create table main.ours.run: catalog requires table property 'delta.enableDeletionVectors'='true' but "
        "the caller supplied 'delta.enableDeletionVectors'='false'. Remove the conflicting TBLPROPERTIES entry."
    )
    with pytest.raises(FaultError) as told, refusals(OURS, "the table run"):
        raise error
    assert told.value.code == "CATALOG_REFUSED"
    assert told.value.message.endswith(
        "does not create the table run: it requires another value of delta.enableDeletionVectors"
    )


@pytest.mark.parametrize(
    "error",
    [
        refused("CATALOG_NOT_FOUND"),
        # As Databricks says it.
        refused(None, "[NO_SUCH_CATALOG_EXCEPTION] Catalog 'main' was not found. Please verify SQLSTATE: 42704"),
    ],
)  # fmt: skip
def test_a_catalog_that_the_session_does_not_have_is_wrong_usage(error):
    def sql(statement):
        raise error

    with pytest.raises(UsageError, match="has no catalog main") as told:
        names_in(SimpleNamespace(sql=sql), OURS)
    assert (told.value.code, told.value.exit_code) == ("CATALOG_UNKNOWN", 2)


def test_what_is_no_refusal_of_a_catalog_stays_what_it_is(tmp_path):
    for location, error in ((OURS, refused(None, "disk")), (Location.lake(str(tmp_path)), refused("X"))):
        with pytest.raises(AnalysisException) as raised, refusals(location, "the table run"):
            raise error
        assert raised.value is error


@pytest.mark.parametrize("table", tables())
def test_delta_rs_opens_no_table_of_a_schema(table, monkeypatch):
    monkeypatch.setattr("deltalake.DeltaTable", None)
    reads = TableReads(None, OURS)  # type: ignore[arg-type]
    assert reads.delta_rs_table(table) is None
    assert reads.few_rows(table) is None
    assert reads.few_changes(table, 1, 2) is None
    assert reads.has_files(table)


class CatalogSession:
    """A session whose catalog has one table with these columns; `looked` counts how often its types were asked."""

    def __init__(self, columns: dict[str, str]) -> None:
        self.looked = 0
        self._columns = columns
        self.read = self
        self.table = lambda _name: self

    @property
    def dtypes(self) -> list[tuple[str, str]]:
        self.looked += 1
        return list(self._columns.items())


def as_spark_says(table: str) -> dict[str, str]:
    return {column.name: column.physical_type.lower().replace(" ", "") for column in contract(table).columns}


@pytest.mark.parametrize("table", tables())
def test_a_table_of_a_schema_with_the_types_of_its_contract_is_read_and_looked_at_once(table):
    # One of an older contract lacks columns until init adds them, and others may have added some.
    first, *rest = as_spark_says(table).items()
    session = CatalogSession({**dict(rest), "note_of_others": "variant"})
    reads = TableReads(session, OURS)  # type: ignore[arg-type]
    assert [reads.read(table), reads.read(table)] == [session, session]
    assert session.looked == 1
    assert first[0] not in dict(session.dtypes)


def test_a_count_that_became_a_decimal_in_a_schema_is_named_when_its_table_is_read():
    session = CatalogSession(as_spark_says("namespace_state") | {"reduced_version": "decimal(20,0)"})
    reads = TableReads(session, OURS)  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(UsageError, match=r"column reduced_version .* has the type decimal") as told:
            reads.read("namespace_state")
        assert told.value.code == "TABLE_DIFFERS"
    # Rows of another lake are input: they are refused with another sentence.
    TableReads(session, OURS, is_trusted=False).read("namespace_state")  # type: ignore[arg-type]
