"""Options are declared once, by dialects: every command shows, parses and passes on what is declared, nothing else."""

import json
from pathlib import Path

import pytest

from strandline.cli.dialect_options import read_dialect_options
from strandline.cli.given import file_of_option
from strandline.cli.invocation import Invocation, Options
from strandline.core.errors import UsageError
from strandline.dialect_api.info import DialectInfo, LakeOption, RunOption
from strandline.dialects import dialect, infos, names, run_options
from support.declared import COMMANDS, declare, help_of

LOGS = '{"logs": [{"id": "/shop", "store": "keyvalue", "write": ["*"]}]}'
NODES = '{"nodes": [{"node": "' + "1" * 64 + '", "user": "' + "2" * 64 + '"}]}'


def call(command: str, **given: tuple[str, ...]) -> Invocation:
    return Invocation(
        command, Options(of_dialects={name.replace("_", "-"): texts for name, texts in given.items()})
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_each_option_that_a_dialect_declares_for_the_command_and_who_reads_it(command):
    shown = help_of(command)
    for option, readers in run_options(command).values():
        assert f"--{option.name}" in shown
        assert f"{' and '.join(readers)}: {option.help.split()[0]}" in shown
    declared = {option.name for info in infos().values() for option in info.run_options}
    for name in declared - set(run_options(command)):
        assert f"--{name} " not in shown


def test_help_of_init_shows_each_choice_of_a_lake():
    shown = help_of("init")
    for info in infos().values():
        for option in info.lake_options:
            assert f"--{option.name}" in shown
            assert f"{info.name}: {option.help.split()[0]}" in shown


def test_options_of_two_dialects_given_at_once_reach_both(tmp_path: Path):
    (tmp_path / "nodes.json").write_text(NODES)
    (tmp_path / "logs.json").write_text(LOGS)
    given = call("reduce", nodes=(str(tmp_path / "nodes.json"),), log_config=(str(tmp_path / "logs.json"),))
    found = read_dialect_options(given, names())
    assert list(found.parsed) == ["sdmp"]
    assert list(found.parsed["sdmp"].nodes) == ["1" * 64]
    assert {name: file.content for name, file in found.files.items()} == {"log-config": LOGS.encode()}


STICKY = [
    (info.name, option.name, command)
    for info in infos().values()
    for option in info.run_options
    for command in option.commands
    if option.is_file and option.sticky
]


@pytest.mark.parametrize(("name", "option", "command"), STICKY)
def test_a_file_that_later_runs_would_read_is_refused_before_it_is_stored(name, option, command, tmp_path):
    (tmp_path / "kept").write_text("no JSON")
    with pytest.raises(UsageError):
        read_dialect_options(call(command, **{option: (str(tmp_path / "kept"),)}), (name,))


def test_a_sticky_option_is_dropped_by_none_and_is_no_file_of_that_name():
    assert read_dialect_options(call("reduce", log_config=("none",)), names()).files == {"log-config": None}


FILES_FOR_ONE_RUN = [
    (info.name, option.name, option.commands[0])
    for info in infos().values()
    for option in info.run_options
    if option.is_file and not option.sticky
]


@pytest.mark.parametrize(("name", "option", "command"), FILES_FOR_ONE_RUN)
def test_none_is_the_name_of_a_file_for_an_option_that_is_not_sticky(
    name, option, command, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=f"the file none of --{option} cannot be read") as refused:
        read_dialect_options(call(command, **{option: ("none",)}), (name,))
    assert refused.value.code == "OPTION_FILE"
    Path("none").write_text("no JSON")
    with pytest.raises(UsageError, match="none"):
        read_dialect_options(call(command, **{option: ("none",)}), (name,))


@pytest.mark.parametrize("spelled", ["{}//nodes.json", "{}//.//nodes.json", "{}/a//../nodes.json"])
def test_the_path_of_a_file_may_have_slashes_in_a_row_and_lead_over_a_link(spelled, tmp_path):
    # As a mounted ConfigMap has it.
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "nodes.json").write_text(NODES)
    (tmp_path / "nodes.json").symlink_to("a/nodes.json")
    assert file_of_option("nodes", spelled.format(tmp_path)) == NODES.encode()


@pytest.mark.parametrize("name", ["file:///nodes.json", "a\0b", "\ud800", ""])
def test_what_is_no_path_of_a_file_is_wrong_usage(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="of --nodes cannot be read") as refused:
        file_of_option("nodes", name)
    assert refused.value.code == "OPTION_FILE"


@pytest.mark.parametrize("name", names())
def test_an_option_that_no_dialect_of_the_run_reads_is_wrong_usage(name):
    others = {
        option.name: info.name
        for info in infos().values()
        for option in info.run_options
        if info.name != name
    }
    assert others
    for option, owner in others.items():
        [command, *_] = next(each.commands for each in infos()[owner].run_options if each.name == option)
        with pytest.raises(UsageError, match=f"--{option} is not an option") as refused:
            read_dialect_options(call(command, **{option: ("x",)}), (name,))
        assert refused.value.code == "OPTION_OF_OTHER_DIALECT"


def test_an_option_that_a_dialect_declares_for_other_commands_alone_is_wrong_usage():
    with pytest.raises(UsageError, match="--restore is not an option"):
        read_dialect_options(call("sync", restore=("x",)), names())


def test_a_dialect_that_declares_options_and_does_not_parse_them_is_a_bug_that_says_so():
    with pytest.raises(TypeError, match="ipfslog declares the options \\['x'\\]"):
        dialect("ipfslog").parse_options({"x": ()})


def test_a_choice_of_a_lake_may_be_any_text(monkeypatch):
    from strandline.pipelines.init import InitOptions, design

    key = LakeOption("toy-key", "ipfs_log_entry", "strandline.toy.key", "Any text.")
    toy = declare(monkeypatch, DialectInfo("toy", "x:y", ("toy",), "ipfs_log_entry", lake_options=(key,)))
    made = design(InitOptions(dialect_options={"toy-key": "a 'quoted' text"}), (toy,))
    assert made.properties == {"ipfs_log_entry": {"strandline.toy.key": "a 'quoted' text"}}
    assert design(InitOptions(), (toy,)).properties == {"ipfs_log_entry": {"strandline.toy.key": ""}}
    assert "--toy-key" in help_of("init")


def test_an_option_of_a_new_dialect_is_shown_without_a_change_to_the_commands(monkeypatch):
    pins = RunOption("toy-pins", ("reduce",), "FILE", "Pins of toys.", is_file=True)
    declare(monkeypatch, DialectInfo("toy", "x:y", ("toy",), "ipfs_log_entry", run_options=(pins,)))
    assert "toy: Pins of toys." in help_of("reduce")
    assert "--toy-pins" not in help_of("ingest")


def test_config_lists_each_option_of_each_dialect_and_how_long_it_holds(capsys):
    from strandline.cli import main

    assert main(["config", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["dialect_options"]
    declared = [
        (f"--{option.name}", info.name)
        for info in infos().values()
        for option in (*info.lake_options, *info.run_options)
    ]
    assert [(each["option"], each["dialect"]) for each in listed] == declared
    holds = {each["option"]: each["holds_for"] for each in listed}
    assert holds["--strict"] == "the lake, as strandline.sdmp.reading of node_journal_line"
    assert holds["--log-config"] == "this run and later ones"
    assert holds["--nodes"] == "this run"
    assert main(["config"]) == 0
    shown = capsys.readouterr().out.split()
    assert [option for option, _ in declared if option not in shown] == []
