"""Settings: where they come from, and one message with file and line for each mistake."""

import re
from inspect import signature
from pathlib import Path

import pytest
import yaml

from strandline.config import defaults, effective, environment_layer, file_layer, options_layer, with_home
from strandline.config.documents import (
    MAX_FILE_BYTES,
    MAX_SCALAR_CHARS,
    entries,
    packaged,
    packaged_text,
    read,
)
from strandline.config.layers import document_layer
from strandline.config.settings import expected, keys
from strandline.core.errors import UsageError
from strandline.core.limits import MAX_SETTING_VALUES
from strandline.dialect_api.journals import ANSWER_LINES
from strandline.dialect_api.reduction import WALK_ENTRIES
from strandline.dialects.sdmp.author import answers

LIB = Path(__file__).parents[3] / "lib"


def refused(text: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        effective((document_layer(text, "mine.yaml"),))
    return caught.value


def test_base_names_every_setting_and_each_has_a_comment() -> None:
    text = packaged_text("base")
    named = {f"{section}.{key}" for section, values in yaml.safe_load(text).items() for key in values}
    assert named == set(keys())
    bare = [line for line in text.splitlines() if line.startswith("  ") and "#" not in line]
    assert bare == []


def test_the_other_files_hold_only_what_differs() -> None:
    base = yaml.safe_load(packaged_text("base"))
    for name in packaged():
        if name == "base":
            continue
        document = yaml.safe_load(packaged_text(name))
        same = [
            f"{section}.{key}"
            for section, values in document.items()
            for key, value in values.items()
            if base[section][key] == value
        ]
        assert same == [], name


def test_every_file_that_comes_along_is_valid() -> None:
    for name in packaged():
        effective((document_layer(packaged_text(name), name),))


def test_the_command_line_wins_over_the_environment_over_the_file_over_the_base(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("tables:\n  buckets: 2\nmerge:\n  attempts: 2\nread:\n  split_bytes: 2\n")
    layers = (
        file_layer(file, None),
        environment_layer(
            {"STRANDLINE_TABLES__BUCKETS": "3", "STRANDLINE_MERGE__ATTEMPTS": "3", "HOME": "/x"}
        ),
        options_layer(["tables.buckets=4"]),
    )
    found = effective(layers)
    assert found.settings.tables.buckets == 4
    assert found.settings.merge.attempts == 3
    assert found.settings.read.split_bytes == 2
    assert found.settings.limits.ratio == 100
    assert found.places["tables.buckets"] == "command line"
    assert found.places["merge.attempts"] == "environment STRANDLINE_MERGE__ATTEMPTS"
    assert found.places["read.split_bytes"] == f"{file}:6"
    assert found.places["limits.ratio"].startswith("conf/base.yaml:")


def test_a_text_from_the_shell_stays_a_text() -> None:
    found = effective((environment_layer({"STRANDLINE_SPARK__CACHE": "007"}),))
    assert found.settings.spark.cache == "007"


def test_the_first_equals_sign_ends_the_name_and_the_last_option_of_a_name_wins() -> None:
    found = effective((options_layer(["spark.state=/x", "spark.state=/a=b"]),))
    assert found.settings.spark.state == "/a=b"
    for wrong in ("spark.state", ""):
        with pytest.raises(UsageError, match="has no value") as caught:
            options_layer([wrong])
        assert caught.value.code == "SETTING_INVALID"


def test_an_empty_file_changes_nothing() -> None:
    assert effective((document_layer("", "empty.yaml"),)).settings == defaults()


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("tables:\n  bucket: 2\n", "SETTING_UNKNOWN", "mine.yaml:2: there is no setting tables.bucket"),
        ("table:\n  buckets: 2\n", "SETTING_UNKNOWN", "mine.yaml:1: there is no section table"),
        (
            "\ntables:\n  buckets: many\n",
            "SETTING_INVALID",
            "tables.buckets is 'many', but must be a whole number from 1 to 65536",
        ),
        ("tables:\n  buckets: '16'\n", "SETTING_INVALID", "mine.yaml:2: tables.buckets is '16'"),
        ("tables:\n  buckets: 16.0\n", "SETTING_INVALID", "mine.yaml:2: tables.buckets is 16.0"),
        ("tables:\n  buckets: 0\n", "SETTING_INVALID", "mine.yaml:2: tables.buckets is 0"),
        ("tables:\n  buckets: 65537\n", "SETTING_INVALID", "mine.yaml:2"),
        ("tables:\n  buckets: true\n", "SETTING_INVALID", "mine.yaml:2"),
        ("tables:\n  buckets:\n", "SETTING_INVALID", "mine.yaml:2: tables.buckets is None"),
        (
            "limits:\n  files: 0\n",
            "SETTING_INVALID",
            "is 0, but must be a whole number from 1 to 4611686018427387904",
        ),
        (
            "limits:\n  deferred_per_namespace: 4611686018427387905\n",
            "SETTING_INVALID",
            "a whole number from 1 to 46",
        ),
        (
            "spark:\n  shuffle_partitions: 2147483648\n",
            "SETTING_INVALID",
            "a whole number from 1 to 2147483647",
        ),
        ("stream:\n  max_files: 2147483648\n", "SETTING_INVALID", "a whole number from 1 to 2147483647"),
        # No line of a journal is as long: the head of one that is cut could be a good one.
        ("limits:\n  quarantine_raw_head: 1023\n", "SETTING_INVALID", "a whole number from 1024 to"),
        ("limits:\n  quarantine_raw_bytes: 1023\n", "SETTING_INVALID", "a whole number from 1024 to"),
        ("progress:\n  seconds: 0\n", "SETTING_INVALID", "must be a number above 0 and up to 86400"),
        ("merge:\n  max_delay_seconds: -1\n", "SETTING_INVALID", "must be a number from 0 to 86400"),
        ("spark:\n  cache: ''\n", "SETTING_INVALID", "must be a text that is not empty"),
        ("tables:\n  deletion_vectors: 1\n", "SETTING_INVALID", "is 1, but must be true or false"),
        ("tables: 16\n", "SETTING_INVALID", "mine.yaml:1: tables is a section"),
        ("merge:\n  base_delay_seconds: .nan\n", "SETTING_INVALID", "mine.yaml:2"),
        (
            "spark:\n  driver_memory: lots\n",
            "SETTING_INVALID",
            "must be a number with k, m or g, for example 2g",
        ),
        (
            "tables:\n  buckets: 2\n  buckets: 3\n",
            "CONF_INVALID",
            "mine.yaml:3: the key buckets is repeated",
        ),
        ("tables:\n buckets: [\n", "CONF_INVALID", "mine.yaml:3"),
        ("- tables\n", "CONF_INVALID", "mine.yaml:1: a mapping is expected"),
        ("tables: !!python/object/apply:os.system [x]\n", "CONF_INVALID", "mine.yaml:1"),
        ("tables:\n  buckets: 2020-99-99\n", "CONF_INVALID", "mine.yaml: this is not YAML: ValueError"),
        ("? [a]\n: 1\n", "CONF_INVALID", "mine.yaml:1: a key must be a plain word"),
    ],
)
def test_a_mistake_names_file_and_line(text: str, code: str, words: str) -> None:
    error = refused(text)
    assert error.code == code
    assert words in error.message
    assert error.exit_code == 2
    assert error.next
    # The wheel has no such folder that a user would find.
    assert "conf/" not in error.message + error.next


def test_the_next_step_of_a_wrong_value_is_its_option_and_its_variable() -> None:
    step = (
        "give it by --set tables.buckets=VALUE or the variable STRANDLINE_TABLES__BUCKETS: the default is 16, and "
        "`strandline config` lists all settings"
    )
    assert refused("tables:\n  buckets: 0\n").next == step
    with pytest.raises(UsageError) as caught:
        effective((environment_layer({"STRANDLINE_TABLES__BUCKETS": "0"}),))
    assert caught.value.next == step


@pytest.mark.parametrize("text", ["- tables\n", "tables: [\n", "? [a]\n: 1\n"])
def test_the_next_step_of_a_file_that_is_no_settings_is_what_one_looks_like(text: str) -> None:
    step = refused(text).next
    assert "`strandline config`" in step
    written = re.search("`([a-z]+: {.*})`", step)
    assert written is not None
    assert document_layer(written[1], "shown").values.keys() <= set(keys())


def test_a_settings_file_that_is_no_text_or_too_large_is_said_to_be_that(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    for content, words in ((b"\xff", "not UTF-8"), (b"#" * (1 << 20) + b"#", "larger than 1 MiB")):
        file.write_bytes(content)
        with pytest.raises(UsageError) as caught:
            file_layer(file, None)
        assert (caught.value.code, words in caught.value.message) == ("CONF_INVALID", True)
        assert "`strandline config`" in caught.value.next


def test_the_nearest_right_key_is_offered() -> None:
    assert refused("tables:\n  bukets: 2\n").next == "did you mean tables.buckets?"
    assert refused("talbes:\n  buckets: 2\n").next == "did you mean tables?"


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("STRANDLINE_TABLES_BUCKETS", "did you mean STRANDLINE_TABLES__BUCKETS?"),
        ("STRANDLINE_TABLES__BUCKET", "did you mean STRANDLINE_TABLES__BUCKETS?"),
        ("STRANDLINE_X", "`strandline config` lists all settings"),
        ("STRANDLINE_FOO", "`strandline config` lists all settings"),
    ],
)
def test_a_variable_that_is_no_setting_is_wrong_usage(variable: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        environment_layer({variable: "1"})
    assert variable in caught.value.message
    assert caught.value.next == hint


def test_a_wrong_value_in_the_environment_names_the_variable() -> None:
    with pytest.raises(UsageError, match="environment STRANDLINE_TABLES__BUCKETS"):
        effective((environment_layer({"STRANDLINE_TABLES__BUCKETS": "[}"}),))


def test_the_fault_points_of_tests_are_no_setting() -> None:
    assert environment_layer({"STRANDLINE_FAULT": "x"}).values == {}


@pytest.mark.parametrize("option", ["tables.buckets", "tables.bucket=3", "buckets=3"])
def test_a_wrong_set_option_is_refused(option: str) -> None:
    with pytest.raises(UsageError):
        options_layer([option])


def test_conf_and_env_exclude_each_other_and_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="both name a settings file"):
        file_layer(tmp_path / "x.yaml", "dev")
    with pytest.raises(UsageError, match="cannot be read"):
        file_layer(tmp_path / "x.yaml", None)
    with pytest.raises(UsageError) as caught:
        file_layer(None, "prd")
    assert caught.value.next == "did you mean prod?"


def test_home_is_spelled_out_once() -> None:
    settings = with_home(defaults(), "/home/she")
    assert settings.spark.cache == "/home/she/.cache/strandline"
    assert with_home(settings, "/elsewhere") == settings


def test_a_request_without_settings_has_the_usual_limits() -> None:
    assert effective(()).settings.limits.walk_entries == WALK_ENTRIES
    assert effective(()).settings.limits.answer_lines == ANSWER_LINES
    assert signature(answers).parameters["most_lines"].default == ANSWER_LINES


def test_each_setting_is_read_by_something():
    config = LIB / "strandline" / "config"
    source = "".join(
        path.read_text("utf-8")
        for path in (LIB / "strandline").rglob("*.py")
        if not path.is_relative_to(config)
    )
    assert [key for key in keys() if f".{key.partition('.')[2]}" not in source] == []


def test_what_a_setting_takes_is_said_of_every_one() -> None:
    assert all(
        expected(key).startswith(("a whole number ", "a number ", "true or ", "a text ")) for key in keys()
    )


BOMBS = {
    "aliases in merge keys": "a: &a {x: 1}\nb: &b\n  <<: [*a, *a, *a]\nlimits:\n  <<: [*b, *b]\n",
    "an alias": "limits: &a\n  files: 1\nread: *a\n",
    "a list of many values": "limits: {files: [" + "0," * 20_000 + "]}\n",
    "a number in base 60": "limits: {files: 1" + ":00" * 5_000 + "}\n",
    "a number of many digits": "limits: {files: " + "9" * 5_000 + "}\n",
    "brackets without an end": "limits: " + "[" * 5_000,
    "a day that no month has": "limits: {files: 2001-99-99}\n",
    "a character that YAML does not have": "limits: {files: \x00}\n",
}


@pytest.mark.large
@pytest.mark.parametrize("name", BOMBS)
def test_a_settings_file_that_is_larger_than_it_looks_is_refused(name: str) -> None:
    error = refused(BOMBS[name])
    assert error.code == "CONF_INVALID"
    assert "mine.yaml" in error.message


@pytest.mark.parametrize("value", ["!!int _", "!!bool maybe", "!!timestamp now", "!!int 1"])
def test_a_tag_in_a_settings_file_is_refused(value: str) -> None:
    error = refused(f"limits:\n  files: {value}\n")
    assert error.code == "CONF_INVALID"
    assert error.message == "mine.yaml:2: this is not YAML: tags are not allowed"


@pytest.mark.large
@pytest.mark.parametrize(
    "text", ["2001-99-99", "[" * 5_000, "1" + ":00" * 5_000, "*a", "\x00", "{", "9" * 5_000, "!!int _"]
)
def test_a_value_from_a_shell_that_yaml_does_not_spell_is_a_text(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        effective((options_layer([f"limits.files={text}"]),))
    assert caught.value.code == "SETTING_INVALID"


@pytest.mark.large
def test_a_settings_file_is_read_up_to_its_limits_and_no_further(tmp_path: Path) -> None:
    def is_read(text: str) -> bool:
        (tmp_path / "a.yaml").write_text(text)
        try:
            return entries(read(tmp_path / "a.yaml"), "a.yaml") is not None
        except UsageError as error:
            return error.code != "CONF_INVALID"

    # A mapping, a section, a mapping, and a key and a value of each setting.
    most = (MAX_SETTING_VALUES - 3) // 2
    for more in (-1, 0, 1):
        assert is_read("#".ljust(MAX_FILE_BYTES + more, "x")) == (more <= 0)
        assert is_read(f"a:\n  b: {'x' * (MAX_SCALAR_CHARS + more)}\n") == (more <= 0)
        pad = "" if MAX_SETTING_VALUES % 2 else "\n  z: [1]"
        pairs = "".join(f"\n  k{number}: 1" for number in range(most - bool(pad) + more))
        assert is_read(f"a:{pad}{pairs}\n") == (more <= 0)


def test_base_is_no_environment_of_its_own() -> None:
    with pytest.raises(UsageError) as refused_:
        file_layer(None, "base")
    assert refused_.value.code == "ENV_UNKNOWN"


@pytest.mark.parametrize(
    ("folder", "found"),
    [("~", "/home/me"), ("~/a", "/home/me/a"), ("~other/a", "~other/a"), ("/a/~", "/a/~"), ("a~", "a~")],
)
def test_only_the_folder_of_this_user_is_a_home(folder: str, found: str) -> None:
    settings = effective((options_layer([f"spark.cache={folder}", f"spark.state={folder}"]),)).settings
    homed = with_home(settings, "/home/me").spark
    assert (homed.cache, homed.state) == (found, found)
