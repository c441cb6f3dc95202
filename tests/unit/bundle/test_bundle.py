"""The Databricks bundle: what it names exists, what it passes parses, its jobs have only fields of the service."""

import re
import tomllib
from typing import Any

import pytest

from strandline.cli.app import commands
from strandline.config.layers import SIGNING_KEY
from strandline.contracts.load import tables
from strandline.contracts.views import view_names
from support import bundle
from support.packaged import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = bundle.targets()
TOP = {"bundle", "include", "sync", "artifacts", "variables", "resources"}
TARGET = {"mode", "default", "variables", "presets", "run_as", "workspace", "permissions", "resources"}
SCHEMA = {"catalog_name", "name", "comment", "grants"}
VOLUME = {"catalog_name", "schema_name", "name", "volume_type", "comment"}


def jobs(target: str) -> dict[str, dict[str, Any]]:
    return bundle.resolved(target)["resources"]["jobs"]


def tasks(target: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    return [(name, job, task) for name, job in jobs(target).items() for task in job["tasks"]]


CALLS = [
    pytest.param(target, task["python_wheel_task"], id=f"{target}-{name}-{task['task_key']}")
    for target in TARGETS
    for name, _, task in tasks(target)
    if "python_wheel_task" in task
]


@pytest.fixture(scope="module")
def job_settings():
    """The SDK takes a second to import."""
    from databricks.sdk.service.jobs import JobSettings

    return JobSettings


@pytest.mark.large
@pytest.mark.parametrize("target", TARGETS)
def test_every_job_has_only_fields_and_values_that_the_service_has(target, job_settings):
    for name, job in jobs(target).items():
        assert job_settings.from_dict(job).as_dict() == job, name


@pytest.mark.large
def test_a_field_or_a_value_that_the_service_does_not_have_is_found(job_settings):
    job = jobs("dev")["ingest"]
    for wrong in (
        {**job, "timeout": 3},
        {**job, "tasks": [{**job["tasks"][0], "run_if": "ALWAYS"}]},
        {**job, "trigger": {"file_arrival": {**job["trigger"]["file_arrival"], "path": "x"}}},
    ):
        assert job_settings.from_dict(wrong).as_dict() != wrong


@pytest.mark.large
@pytest.mark.parametrize("target", TARGETS)
def test_everything_else_has_only_fields_that_a_bundle_has(target):
    from databricks.sdk.service.catalog import VolumeType

    found = bundle.resolved(target)
    assert set(found) <= TOP | TARGET
    assert found["artifacts"]["strandline"]["type"] == "whl"
    for schema in found["resources"]["schemas"].values():
        assert set(schema) == SCHEMA
    for volume in found["resources"]["volumes"].values():
        assert set(volume) - {"grants"} == VOLUME
        assert VolumeType(volume["volume_type"]) is VolumeType.MANAGED


@pytest.mark.large
@pytest.mark.parametrize("target", TARGETS)
def test_analysts_use_the_schema_alone_and_who_runs_the_jobs_or_brings_journals_has_what_they_need(target):
    from databricks.sdk.service.catalog import Privilege

    given = {"service_principal": "an-id", "analysts": "all", "producers": "nodes"}
    resources = bundle.resolved(target, given)["resources"]
    places = {"lake": resources["schemas"]["lake"], **resources["volumes"]}
    granted = {
        (grant["principal"], name): {Privilege(each).value for each in grant["privileges"]}
        for name, place in places.items()
        for grant in place.get("grants", ())
    }
    needed = {
        ("an-id", "lake"): {"USE_SCHEMA", "CREATE_TABLE"},
        ("an-id", "landing"): {"READ_VOLUME"},
        ("an-id", "progress"): {"READ_VOLUME", "WRITE_VOLUME"},
        ("nodes", "lake"): {"USE_SCHEMA"},
        ("nodes", "landing"): {"READ_VOLUME", "WRITE_VOLUME"},
    }
    # In dev who deploys runs the jobs, and owns it all.
    assert granted == {("all", "lake"): {"USE_SCHEMA"}} | ({} if target == "dev" else needed)


def test_only_who_deploys_can_write_what_the_service_principal_runs():
    # The wheel and grants.sql run with the rights of the owner of all tables. The folder Shared is open to each user.
    for target in set(TARGETS) - {"dev"}:
        found = bundle.resolved(target, {"service_principal": "an-id"})
        assert found["workspace"] == {
            "root_path": f"/Workspace/Users/{bundle.DEPLOYER}/.bundle/strandline/{target}"
        }
        assert found["permissions"] == [{"service_principal_name": "an-id", "level": "CAN_VIEW"}]
    # Without a path, the mode `development` takes the folder of who deploys.
    assert not {"workspace", "permissions"} & set(bundle.resolved("dev"))


def test_each_variable_is_declared_and_used():
    declared = {f"var.{name}" for name in bundle.resolved("dev")["variables"]}
    used = bundle.used_variables()
    assert {name for name in used if name.startswith("var.")} == declared
    others = {name for name in used if not name.startswith("var.")}
    assert others == {
        "bundle.name", "bundle.target", "workspace.current_user.userName",
        "resources.schemas.lake.name", "resources.volumes.landing.name", "resources.volumes.progress.name",
    }  # fmt: skip
    given = {name for target in TARGETS for name in bundle.resolved(target, {})["variables"]}
    assert {f"var.{name}" for name in given} == declared


def test_the_schema_of_each_target_has_the_prefix_that_the_page_names():
    places = {"dev": "dev_ann_strandline", "staging": "staging_strandline", "prod": "strandline"}
    page = " ".join((ROOT / "docs/databricks.md").read_text(encoding="utf-8").split())
    for target in TARGETS:
        resources = bundle.resolved(target)["resources"]
        assert resources["schemas"]["lake"]["name"] == places[target]
        assert all(each["schema_name"] == places[target] for each in resources["volumes"].values())
        [told] = [
            word for word in resources["jobs"]["init"]["tasks"][0]["python_wheel_task"]["parameters"]
            if word.startswith("--schema=")
        ]  # fmt: skip
        assert told == f"--schema=main.{places[target]}"
        assert f"`{places[target].replace(bundle.DEVELOPER, '<user>')}`" in page


def test_the_runtime_of_job_clusters_has_the_spark_that_the_program_needs():
    # Runtime 17.3 has Spark 4.0, which lacks table functions of Arrow (`SPARK_TOO_OLD`); 18 has Spark 4.1.
    version = bundle.resolved("dev")["variables"]["spark_version"]["default"]
    assert int(version.partition(".")[0]) >= 18


@pytest.mark.parametrize("target", TARGETS)
def test_job_clusters_have_the_policy_that_is_named_or_none(target):
    for given, policies in ({}, {None}), ({"policy_id": "E0123"}, {"E0123"}):
        found = bundle.resolved(target, given)
        assert {
            each["new_cluster"].get("policy_id")
            for job in found["resources"]["jobs"].values()
            for each in job["job_clusters"]
        } == policies
    # Older versions of the command line send an empty id to the service, which refuses it.
    assert found["bundle"]["databricks_cli_version"] == ">= 1.10.0"
    assert "CLI 1.10 or later" in (ROOT / "docs/databricks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("target", TARGETS)
def test_only_the_cluster_of_checkpoints_has_the_key_and_it_is_a_secret(target):
    with_key = {
        name: each["new_cluster"]["spark_env_vars"]
        for name, job in jobs(target).items()
        for each in job["job_clusters"]
        if "spark_env_vars" in each["new_cluster"]
    }
    assert with_key == {"checkpoint": {SIGNING_KEY: "{{secrets/strandline/checkpoint-key}}"}}


def test_the_page_says_when_each_job_runs():
    page = (ROOT / "docs/databricks.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(\w+)` \| (every [^|;,]*[\w:])", page, re.MULTILINE))
    assert told == {
        name: _in_words(job["schedule"]["quartz_cron_expression"])
        for name, job in jobs("prod").items()
        if "schedule" in job and job["schedule"]["timezone_id"] == "UTC"
    }


def _in_words(cron: str) -> str:
    second, minute, hour, *_, weekday = cron.split()
    assert second == "0"
    if hour == "*":
        return f"every {minute[2:]} minutes" if minute.startswith("*/") else f"every hour at minute {minute}"
    return f"every {'Sunday' if weekday == 'SUN' else 'day'} at {int(hour):02}:{int(minute):02}"


def test_each_included_file_is_there_and_each_job_is_in_the_file_of_its_name():
    files = {path.stem for path in bundle.included()}
    assert set(jobs("dev")) == {"init", "ingest", "stream", "check", "gc", "checkpoint", "maintain", "status"}
    assert files == {*jobs("dev"), "lake", "cluster", "principal"}


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_task_waits_for_and_runs_on_exists(target):
    for name, job, task in tasks(target):
        keys = {each["task_key"] for each in job["tasks"]}
        waits = [each["task_key"] for each in task.get("depends_on", ())]
        assert set(waits) < keys, (name, task["task_key"])
        clusters = {each["job_cluster_key"] for each in job.get("job_clusters", ())}
        if "sql_task" in task:
            assert task["sql_task"]["file"]["path"] == str(ROOT / "conf/bundle/grants.sql")
            assert (ROOT / "conf/bundle/grants.sql").is_file()
        else:
            # No task runs on serverless compute: it refuses `DataFrame.persist` and most of `spark.conf`.
            assert task["job_cluster_key"] in clusters
            assert [each["whl"] for each in task["libraries"]] == [str(ROOT / "dist/*.whl")]
            assert "environment_key" not in task


def test_a_deployment_uploads_what_jobs_read_under_names_that_no_two_files_share():
    read = {
        task["sql_task"]["file"]["path"]
        for target in TARGETS
        for _, _, task in tasks(target)
        if "sql_task" in task
    }
    assert {str(path) for path in bundle.names_in_workspace(bundle.uploaded()).values()} == read
    # A notebook has no extension there, so its two forms have one name.
    with pytest.raises(ValueError, match=r"/damaged_fleet\.py are notebooks/damaged_fleet$"):
        bundle.names_in_workspace(sorted((ROOT / "notebooks").iterdir()))


def test_the_wheel_is_built_by_a_target_of_the_makefile_into_the_folder_that_the_jobs_name():
    built = bundle.resolved("dev")["artifacts"]["strandline"]
    assert built["path"] == str(ROOT)
    assert built["build"] == "make wheel"
    [recipe] = re.findall(r"^wheel:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert "--wheel-dir dist" in recipe


@pytest.mark.parametrize(("target", "call"), CALLS)
def test_each_call_names_the_package_its_entry_point_and_options_that_parse(target, call):
    assert call["package_name"] == PROJECT["name"]
    assert call["entry_point"] in PROJECT["scripts"]
    name, *words = [word.replace(bundle.RUN, "1071") for word in call["parameters"]]
    assert not any("{{" in word or "${" in word for word in words)
    command = commands().commands[name]
    # The parser keeps the options of its first context: one without the group would have no `-h`.
    with commands().make_context("strandline", [], resilient_parsing=True) as above:
        context = command.make_context(name, list(words), parent=above)
    assert context.params["schema"]
    assert context.params["as_json"] is True


@pytest.mark.parametrize("target", TARGETS)
def test_what_writes_once_has_an_id_that_its_retries_share_and_no_other_task(target):
    ids = {}
    for name, _, task in tasks(target):
        words = task.get("python_wheel_task", {}).get("parameters", ())
        takes = words and any("--run-id" in each.opts for each in commands().commands[words[0]].params)
        given = [word.removeprefix("--run-id=") for word in words if word.startswith("--run-id=")]
        assert len(given) == bool(takes), (name, task["task_key"])
        ids.update(dict.fromkeys(given, task["task_key"]))
    assert len(ids) == 7
    assert all(each.endswith(f"-{bundle.RUN}") for each in ids)


@pytest.mark.parametrize("target", TARGETS)
def test_each_task_ends_in_time_and_findings_are_not_repeated(target):
    for name, job, task in tasks(target):
        assert 0 < task["timeout_seconds"] <= job["timeout_seconds"], name
        words = task.get("python_wheel_task", {}).get("parameters", ())
        if {"check", "checkpoint", "gc", "stream", "--check", "--full"} & set(words):
            assert task["max_retries"] == 0
        assert job["max_concurrent_runs"] == 1
        assert job["email_notifications"]["on_failure"]


@pytest.mark.parametrize("target", TARGETS)
def test_a_failure_that_a_later_task_covers_is_mailed_by_its_own_task(target):
    # The result of a job is that of its last tasks: where only an earlier one failed, the job sends no mail.
    covered = set()
    for name, job, task in tasks(target):
        if task.get("run_if", "ALL_SUCCESS") == "ALL_SUCCESS":
            continue
        for each in job["tasks"]:
            if {"task_key": each["task_key"]} in task["depends_on"]:
                assert each["email_notifications"] == job["email_notifications"], each["task_key"]
                covered.add((name, each["task_key"]))
    assert covered == {("check", "reduce_full"), ("ingest", "ingest")}


def test_only_development_is_paused_and_runs_as_a_person():
    for target in TARGETS:
        found = bundle.resolved(target, {"service_principal": "an-id"})
        is_dev = target == "dev"
        assert found["mode"] == ("development" if is_dev else "production")
        paused = {
            name
            for name, job in found["resources"]["jobs"].items()
            for when in (job.get("trigger"), job.get("schedule"))
            if when is not None and when.get("pause_status") == "PAUSED"
        }
        scheduled = {"ingest", "stream", "check", "gc", "checkpoint", "maintain", "status"}
        assert paused == (scheduled if is_dev else {"stream", "gc", "checkpoint"})
        principal = None if is_dev else {"service_principal_name": "an-id"}
        assert found.get("run_as") == principal


def test_analysts_get_every_view_and_no_table():
    text = (ROOT / "conf/bundle/grants.sql").read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    statements = [" ".join(each.split()) for each in code.split(";") if each.strip()]
    granted = re.findall(r"`\.`(\w+)` TO `' \|\| :analysts", code)
    assert sorted(granted) == sorted(view_names())
    assert not set(granted) & set(tables())
    assert statements[0] == "DECLARE OR REPLACE VARIABLE statement STRING"
    assert len(statements) == 1 + 2 * len(granted)
    for setting, running in zip(statements[1::2], statements[2::2], strict=True):
        assert re.fullmatch(
            r"SET VAR statement = 'GRANT SELECT ON VIEW `' \|\| :catalog \|\| '`\.`' \|\| :schema \|\| '`\.`\w+` TO `'"
            r" \|\| :analysts \|\| '`'",
            setting,
        )
        assert running == "EXECUTE IMMEDIATE statement"
    for path in (ROOT / "schemas/views").glob("*.sql"):
        assert not re.search(r"\braw\b", path.read_text(encoding="utf-8")), path.name
    [task] = [task for name, _, task in tasks("dev") if "sql_task" in task]
    assert set(task["sql_task"]["parameters"]) == set(re.findall(r":(\w+)", code))
