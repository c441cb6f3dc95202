"""Own nodes on the command line without a JVM: wrong options are refused, status says which writer stopped."""

import json
from pathlib import Path

import pytest

from strandline.cli import main
from strandline.dialects.sdmp.author import synthetic_id
from support.delta_rs_lake import empty_lake, held, state, write

OWN, PEER, USER = (synthetic_id(*each) for each in (("node", 1), ("node", 2), ("user", 1)))
OTHER = synthetic_id("node", 3, "0.12")
INGEST = ("ingest", "in", "--dialect", "sdmp")
STREAM = ("stream", "in", "--dialect", "sdmp", "--available-now")
NOT_HELD = "OWN_LINE_NOT_HELD"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "in").mkdir()


def nodes_file(**changed) -> str:
    """nodes.json with one own node, some of its members changed."""
    node = {"node": OWN, "user": USER, "connections": [{"user": USER, "nodes": [PEER]}]} | changed
    path = Path("nodes.json")
    path.write_text(json.dumps({"nodes": [node, *changed.pop("more", [])]}))
    return str(path)


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The error of a command that ends with exit code 2 and leaves no lake behind."""
    assert main([*words, "--json", "--quiet"]) == 2
    assert not Path("lake").exists()
    return json.loads(capsys.readouterr().out)["error"]


@pytest.mark.parametrize(
    ("changed", "member"),
    [
        ({"colour": "red"}, "nodes[0].colour: this member is unknown"),
        ({"connections": [{"user": USER, "nodes": [OTHER]}]}, "nodes[0].connections[0].nodes[0]"),
        ({"node": OTHER}, "nodes[0].user: this id is not of profile 0.12"),
        ({"connections": [{"user": USER, "nodes": [OWN]}]}, f"{OWN} is its own peer"),
        ({"record": "some"}, "nodes[0].record"),
    ],
)
@pytest.mark.parametrize(
    "command", [INGEST, STREAM, ("reduce",), ("sync",), ("sync", "--from", "other")], ids=" ".join
)
def test_a_wrong_file_of_nodes_is_refused_with_its_member_and_nothing_is_written(
    capsys, command, changed, member
):
    error = refused([*command, "--nodes", nodes_file(**changed)], capsys)
    assert error["code"] == "NODES_INVALID"
    assert "nodes.json" in error["message"]
    assert member in error["message"]


def test_a_node_twice_is_refused(capsys):
    again = {"node": OWN, "user": USER}
    path = Path("nodes.json")
    path.write_text(json.dumps({"nodes": [again, again]}))
    error = refused(["ingest", "in", "--dialect", "sdmp", "--nodes", str(path)], capsys)
    assert "nodes[1].node" in error["message"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([*INGEST, "--nodes", "absent.json"], "OPTION_FILE"),
        ([*STREAM, "--nodes", "absent.json"], "OPTION_FILE"),
        ([*STREAM, "--log-config", "absent.json"], "OPTION_OF_OTHER_DIALECT"),
        ([*INGEST, "--restore", OWN], "NODE_NOT_OWN"),
        ([*INGEST, "--nodes", "nodes.json", "--restore", PEER], "NODE_NOT_OWN"),
        ([*INGEST, "--nodes", "nodes.json", "--force-write", PEER], "NODE_NOT_OWN"),
        ([*INGEST, "--nodes", "nodes.json", "--restore", OWN, "--restore", f"node:{OWN}"], "NODE_TWICE"),
        (["sync"], "NODES_MISSING"),
        (["sync", "--nodes", "nodes.json", "--answer", "nodes.json"], "SYNC_OPTIONS"),
        (["sync", "--nodes", "nodes.json", "--out", "x"], "SYNC_OPTIONS"),
        (["sync", "--nodes", "nodes.json", "--answer", "absent", "--out", "x"], "SOURCE_MISSING"),
        (["sync", "--nodes", "nodes.json", "--force-write", "../../x"], "NODE_NOT_OWN"),
    ],
    ids=lambda value: " ".join(value[:1] + value[3:]) if isinstance(value, list) else value,
)  # fmt: skip
def test_options_of_own_nodes_that_cannot_be_meant_are_refused(capsys, words, code):
    nodes_file()
    assert refused(words, capsys)["code"] == code


def fleet(lake: Path) -> None:
    """Own nodes: one shown a line that it lacks, one whose line is held since, one forked; and peers."""
    empty_lake(lake)
    names = {
        name: f"node:{synthetic_id('node', n)}"
        for n, name in enumerate(("shown", "mended", "forked", "wants"))
    }
    write(lake, "namespace_state", [state(name) for name in names.values()])
    ids = {name: bytes([at]) * 32 for at, name in enumerate(names)}
    write(
        lake,
        "quarantine",
        [
            held(name.encode(), namespace=names[name], status="rejected", reasons=[NOT_HELD], record_id=ids[name])
            for name in ("shown", "mended")
        ],
    )  # fmt: skip
    write(lake, "node_journal_line", [{"namespace": names["mended"], "record_id": ids["mended"], "n": 2}])
    write(
        lake,
        "equivocation",
        [{"namespace": names[name], "kind": "SDMP_FORK"} for name in ("forked", "wants")],
    )
    write(lake, "peer_status", [{"namespace": names["forked"], "peer": PEER}])
    wanted = [{"namespace": names["shown"], "recorded": recorded} for recorded in (True, False, False)]
    write(lake, "wanted_resource", wanted)


@pytest.mark.large
def test_status_says_which_writer_stopped_and_why_and_by_how_much_own_nodes_are_behind(capsys):
    fleet(Path("lake"))
    assert main(["status", "--json", "--check"]) == 1
    report = json.loads(capsys.readouterr().out)
    shown, _, forked, _ = (synthetic_id("node", n) for n in range(4))
    # A fork of a node that is not own stops nobody, and a line that is held by now is resolved.
    assert report["stopped"] == {
        node: [code] for node, code in sorted([(shown, "OWN_JOURNAL_BEHIND"), (forked, "OWN_JOURNAL_FORKED")])
    }
    behind = {row["namespace"]: (row["behind"], row["health"]) for row in report["rows"]}
    assert behind[f"node:{shown}"] == (3, "behind")
    assert report["counts"] == {"forked": 2, "behind": 1, "waiting": 0, "rejected": 1, "ok": 0}
    assert main(["status"]) == 0
    text = capsys.readouterr().out
    assert f"writer stopped: {shown}  OWN_JOURNAL_BEHIND" in text
    assert "ingest --restore NODE" in text


def test_a_fleet_without_own_nodes_has_no_writer_that_stopped(capsys):
    empty_lake(Path("lake"))
    assert main(["status", "--json", "--check"]) == 0
    assert json.loads(capsys.readouterr().out)["stopped"] == {}


@pytest.mark.large
def test_status_check_finds_a_writer_that_stopped_where_nothing_else_is_wrong(capsys):
    empty_lake(Path("lake"))
    write(Path("lake"), "peer_status", [{"namespace": f"node:{OWN}", "peer": PEER}])
    assert main(["status", "--check"]) == 0
    write(Path("lake"), "equivocation", [{"namespace": f"node:{OWN}", "kind": "SDMP_FORK"}])
    assert main(["status", "--check"]) == 1


NAME = f"node:{OWN}"
TROUBLES = {
    "nothing": [],
    "forked": [("namespace_state", [state(NAME)]), ("equivocation", [{"namespace": NAME, "kind": "SDMP_FORK"}])],
    "waiting": [
        ("quarantine", [held(b"w", namespace=NAME, status="deferred", reasons=["PREDECESSOR_UNKNOWN"])])
    ],
    "behind": [("namespace_state", [state(NAME)]), ("wanted_resource", [{"namespace": NAME, "recorded": False}])],
}  # fmt: skip


@pytest.mark.large
@pytest.mark.parametrize("trouble", TROUBLES)
def test_status_check_ends_with_1_for_a_node_with_one_trouble_alone(capsys, trouble):
    empty_lake(Path("lake"))
    for table, rows in TROUBLES[trouble]:
        write(Path("lake"), table, rows)
    assert main(["status", "--check", "--json"]) == (trouble != "nothing")
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert {health for health, count in counts.items() if count} == {trouble} - {"nothing"}


def test_an_option_of_another_dialect_is_refused_by_name(capsys):
    error = refused(["ingest", "in", "--dialect", "ipfslog", "--nodes", nodes_file()], capsys)
    assert error["code"] == "OPTION_OF_OTHER_DIALECT"
    assert "--nodes" in error["message"]
    assert "ipfslog" in error["message"]
