"""What a package that registers a dialect brings is found beside its entry point, and replaces nothing of ours."""

import pytest

from strandline import dialects
from strandline.contracts import load, merge, reasons, resources, views
from strandline.core.errors import UsageError
from support.packaged import ROOT

CACHES = (dialects.infos, resources.registered, views.queries, reasons._registry, load.contract)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A folder of installed packages, the toy dialect among them."""
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "toy_dialect" / "installed"))
    monkeypatch.syspath_prepend(str(tmp_path))
    for cache in CACHES:
        cache.cache_clear()
    yield tmp_path
    monkeypatch.undo()
    for cache in CACHES:
        cache.cache_clear()


def register(folder, name, *, schemas=()):
    """Install a package that registers a dialect."""
    info = folder / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[strandline.dialects]\n{name} = {name}.info:INFO\n")
    (folder / name / "schemas" / "views").mkdir(parents=True)
    (folder / name / "__init__.py").write_text("")
    for path, text in dict(schemas).items():
        (folder / name / "schemas" / path).write_text(text)


def test_contracts_and_reasons_of_a_registered_dialect_are_found_and_ours_stay(installed):
    ours = load.TABLES
    assert load.tables() == ("toy_note", "toy_tip", *ours)
    assert load.contract("toy_note").key == ("namespace", "record_id")
    assert reasons.reasons()["NOTE_PARENT_UNKNOWN"].dialects == ("toy",)
    assert dialects.names() == ("sdmp", "ipfslog", "aura", "devicelog", "toy")
    assert dialects.record_tables()["toy"] == "toy_note"


def test_no_package_replaces_a_contract_a_view_a_reason_or_the_rules_of_ours(installed):
    before = (
        load.contract("quarantine"),
        views.views(behind=())["namespace_health"],
        reasons.reasons()["TRUNCATED"],
    )
    register(
        installed, "greedy",
        schemas={
            "quarantine.odcs.yaml": "id: mine", "views/namespace_health.sql": "-- Mine.\nSELECT 1",
            "views/greedy.sql": "-- Mine.\nSELECT 2",
            "reasons.yaml": "rules_version: 99\ncodes:\n"
            "  - {code: TRUNCATED, outcome: [rejected], severity: info, dialects: [all], meaning: m, advice: a}\n",
        },
    )  # fmt: skip
    for cache in CACHES:
        cache.cache_clear()
    after = (
        load.contract("quarantine"),
        views.views(behind=())["namespace_health"],
        reasons.reasons()["TRUNCATED"],
    )
    assert after == before
    assert views.views(behind=())["greedy"].select == "SELECT 2"
    assert reasons.rules_version() < 99


def test_a_package_that_cannot_be_imported_is_told_by_the_registry_and_stops_no_contract(installed):
    info = installed / "gone-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gone\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[strandline.dialects]\ngone = gone.info:INFO\n")
    for cache in CACHES:
        cache.cache_clear()
    assert load.contract("run").table == "run"
    with pytest.raises(UsageError) as refused:
        dialects.infos()
    assert refused.value.code == "DIALECT_NOT_LOADED"


def test_a_table_of_keys_alone_is_replaced_by_what_is_new_and_what_is_gone(installed):
    sql = merge.replace_merge_sql(
        load.contract("toy_tip"), target="t", source="s", buckets=(1,), deleting=True
    )
    assert "UPDATE" not in sql
    assert [clause.split(" THEN ")[1].split(" ")[0].strip() for clause in sql.split("WHEN ")[1:]] == [
        "DELETE", "INSERT",
    ]  # fmt: skip
