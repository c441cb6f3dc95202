"""Each job of the Databricks bundle runs as the bundle spells it, in a schema: its tasks in order."""

import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

from strandline.cli import main
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.tables.new_manifests import write_manifest
from support import bundle

SCHEMA = "strandline_bundle"
GIVEN = {
    "catalog": "spark_catalog", "schema": SCHEMA, "volume": "landing", "dialect": "sdmp", "buckets": "2",
    "checkpoint_origin": "example.org/strandline",
}  # fmt: skip


@pytest.fixture
def run(spark, tmp_path, capsys):
    """Runs a job and returns the reports of the tasks that ran; volumes are folders below `tmp_path`."""
    jobs = bundle.resolved("prod", GIVEN)["resources"]["jobs"]

    def run_job(name: str, number: str) -> dict[str, dict]:
        reports: dict[str, dict] = {}
        for task in jobs[name]["tasks"]:
            waits_for = [each["task_key"] for each in task.get("depends_on", ())]
            succeeded = all(reports[each]["exit"] == 0 for each in waits_for)
            if "python_wheel_task" not in task or not (succeeded or task.get("run_if") == "ALL_DONE"):
                continue
            words = [
                word.replace("/Volumes/", f"{tmp_path}/Volumes/").replace(bundle.RUN, number)
                for word in task["python_wheel_task"]["parameters"]
            ]
            capsys.readouterr()
            code = main([*words, "--quiet"])
            reports[task["task_key"]] = report = json.loads(capsys.readouterr().out)
            assert report["exit"] == code
            assert "error" not in report, report["error"]
        return reports

    yield run_job
    spark.sql(f"DROP SCHEMA IF EXISTS spark_catalog.{SCHEMA} CASCADE")


def test_the_jobs_of_the_bundle_make_a_lake_keep_it_and_tell_its_health(run, spark, tmp_path, monkeypatch):
    volumes = tmp_path / "Volumes" / "spark_catalog" / SCHEMA
    (volumes / "landing").mkdir(parents=True)
    (volumes / "progress").mkdir()
    assert len(run("init", "1")["init"]["created"]) > 10
    (volumes / "landing" / "a.journal").write_bytes(render(synthetic(7, 20)))

    landed = run("ingest", "2")
    assert landed["ingest"]["counts"]["new"] == 20
    assert landed["reduce"]["namespaces"] == 1
    # The same job run again is the same run.
    again = run("ingest", "2")
    assert [each["repeated"] for each in again.values()] == [True, True]
    assert [each["counts"] for each in again.values()] == [each["counts"] for each in landed.values()]

    (volumes / "landing" / "b.journal").write_bytes(render(synthetic(8, 10)))
    assert run("stream", "3")["stream"]["counts"]["new"] == 10
    checked = run("check", "4")
    assert (checked["reduce_full"]["exit"], checked["check"]["exit"]) == (0, 0)
    collected = run("gc", "5")["gc"]
    assert (collected["exit"], collected["counts"]["pruned"]) == (0, 0)
    assert collected["holds"] == {"sdmp": {"KIND_KEPT": 30}}
    # The cluster has the key from a secret.
    monkeypatch.setenv("STRANDLINE_CHECKPOINT_KEY", "07" * 32)
    signed = run("checkpoint", "9")["checkpoint"]
    assert (signed["counts"]["signed"], signed["counts"]["leaves"]) == (2, 30)
    assert signed["origin"] == "example.org/strandline"
    maintained = run("maintain", "6")["maintain"]
    assert maintained["counts"]["retention_set"] > 0
    assert maintained["counts"]["removed_files"] == 0
    health = run("status", "7")["status"]
    assert (health["exit"], health["namespaces"]) == (0, 2)
    metrics = text_string_to_metric_families((volumes / "progress" / "status.prom").read_text())
    codes = [each.samples[0].value for each in metrics if each.name == "strandline_run_exit_code"]
    assert codes == [0]
    # A delivery that was cut stays in the volume, and is found in each run: what it has is reduced all the same.
    cut = volumes / "landing" / "c.journal"
    cut.write_bytes(render(synthetic(9, 12)))
    write_manifest([cut], dialect="sdmp", records_in=SDMP.count_records)
    cut.write_bytes(render([*synthetic(9, 12)][:11]))
    landed = run("ingest", "8")
    assert (landed["ingest"]["exit"], landed["ingest"]["counts"]["new"]) == (1, 11)
    assert (landed["reduce"]["exit"], landed["reduce"]["namespaces"]) == (0, 1)
    runs = spark.sql(
        f"SELECT run_id, command FROM spark_catalog.{SCHEMA}.run WHERE run_id RLIKE '^[a-z-]+-[0-9]$'"
    )
    assert sorted(tuple(row) for row in runs.collect()) == [
        ("checkpoint-9", "checkpoint"), ("gc-5", "gc"), ("ingest-2", "ingest"), ("ingest-8", "ingest"),
        ("init-1", "init"), ("maintain-6", "maintain"), ("reduce-2", "reduce"), ("reduce-8", "reduce"),
        ("reduce-full-4", "reduce"),
    ]  # fmt: skip
