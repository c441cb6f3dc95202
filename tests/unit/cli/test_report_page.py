"""`report`: the page's numbers are those of the tables, data is escaped, and only reports are replaced."""

import json
import sys
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest

from strandline.cli import main
from strandline.cli.page.lanes import graph
from strandline.tables.delta_rs import open_delta_rs
from strandline.tables.location import Location
from support.delta_rs_lake import empty_lake, held, rejected_namespaces, state, write

HOSTILE = (
    "log:</bdi><script>alert(1)</script>",
    'log:"onload="alert(1)',
    "log:</script><img src=x onerror=alert(1)>",
    "log:{{ 7*7 }}",
    "log:\u202eevil\x1b[31m\x00",
)


class Page(HTMLParser):
    """The cells of tables by their ids, numbers by what they count, the tags and the addresses of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.numbers: dict[str, str] = {}
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self._table = self._number = ""
        self._in_cell = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.addresses += [given[name] or "" for name in ("src", "href", "action", "data") if name in given]
        assert not any(name.startswith("on") for name in given)
        if tag == "table":
            self._table = given.get("id", "")
            self.tables[self._table] = []
        elif tag == "tr":
            self.tables[self._table].append([])
        elif tag in ("td", "th"):
            self._in_cell = True
            self.tables[self._table][-1].append("")
        self._number = given.get("data-health") or given.get("data-total") or ""

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._in_cell = False
        self._number = ""

    def handle_data(self, data):
        if self._in_cell:
            self.tables[self._table][-1][-1] += data
        if self._number:
            self.numbers[self._number] = data


def page_of(lake, out) -> tuple[Page, str]:
    assert main(["report", "--lake", str(lake), "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    return Page(text), text


@pytest.fixture
def lake(tmp_path):
    lake = empty_lake(tmp_path / "lake")
    names = [*HOSTILE, "node:a", "node:b"]
    write(lake, "namespace_state", [state(name, records=at + 1) for at, name in enumerate(names)])
    rows = [
        held(b"%d" % at, namespace=name, status="rejected", reasons=["LINE_NUMBER_MISMATCH", "TRUNCATED"])
        | {"source": f"<b>{name}</b>"}
        for at, name in enumerate(names[:3])
    ]
    rows.append(
        held(
            b"x",
            namespace="node:a",
            status="deferred",
            reasons=["PREDECESSOR_UNKNOWN"],
            waits_for=["line:<i>"],
        )
    )
    write(lake, "quarantine", rows)
    write(
        lake,
        "equivocation",
        [{"namespace": "node:b", "dialect": "sdmp", "kind": "SDMP_FORK", "position": "<u>"}],
    )
    write(
        lake, "run",
        [
            {
                "run_id": "r", "command": "ingest", "outcome": "ok",
                "counts": {"read": 9, "new": 5, "rejected": 3, "deferred": 1, "readmitted": 2},
            }
        ],
    )  # fmt: skip
    return lake


@pytest.mark.large
def test_the_numbers_of_the_page_are_those_of_the_tables(lake, tmp_path):
    page, _ = page_of(lake, tmp_path / "fleet.html")
    tables = open_delta_rs(Location.lake(str(lake)))
    [stored] = tables.query("SELECT sum(record_count) AS records FROM namespace_state", ["namespace_state"])
    [outside] = tables.query("SELECT count(*) AS rows FROM quarantine", ["quarantine"])
    assert page.numbers == {
        "forked": "1", "behind": "0", "waiting": "1", "rejected": "3", "ok": "2",
        "records": str(stored["records"]), "quarantined": str(outside["rows"]),
    }  # fmt: skip
    assert len(page.tables["namespaces"]) == 1 + 7
    assert [row[1] for row in page.tables["namespaces"][1:]] == [
        "forked",
        "waiting",
        *["rejected"] * 3,
        *["ok"] * 2,
    ]
    assert [row[:3] for row in page.tables["reason-table"][1:]] == [
        ["LINE_NUMBER_MISMATCH, TRUNCATED", "rejected", "3"], ["PREDECESSOR_UNKNOWN", "deferred", "1"],
    ]  # fmt: skip
    assert page.tables["times"][1][1:] == ["7", "1", "3"]
    assert [row[2] for row in page.tables["waiting"][1:]] == ["line:<i>"]
    assert [row[2] for row in page.tables["forks"][1:]] == ["<u>"]
    assert len(page.tables["sources"]) == 4


@pytest.mark.large
def test_data_full_of_markup_is_text_and_the_page_asks_for_nothing(lake, tmp_path):
    page, text = page_of(lake, tmp_path / "fleet.html")
    assert page.tags.count("script") == 2
    assert not {"img", "iframe", "link", "object", "embed", "b", "i", "u"} & (set(page.tags) - {"link"})
    assert [each for each in page.addresses if not each.startswith(("#", "data:,"))] == []
    assert [row[0] for row in page.tables["namespaces"] if row[0].endswith("7 }}")] == ["log:{{ 7*7 }}"]
    assert "log:</bdi><script>alert(1)</script>" in [row[0] for row in page.tables["namespaces"]]
    assert "log:\\u202eevil\\x1b[31m\\x00" in [row[0] for row in page.tables["namespaces"]]
    assert not {"\u202e", "\x1b", "\x00"} & set(text)


@pytest.mark.large
def test_a_later_report_says_what_changed(lake, tmp_path):
    out = tmp_path / "fleet.html"
    _, first = page_of(lake, out)
    assert "What changed" not in first
    before = json.loads(first.split('id="numbers">')[1].split("</script>")[0])
    assert before["counts"]["ok"] == 2
    out.write_text(first.replace(before["made_at"], "2026-01-01T00:00:00Z"))
    write(lake, "namespace_state", [state("node:c")])
    _, second = page_of(lake, out)
    assert "ok: 2 before, 3 now" in second
    assert (
        "1 run accepted 7 records; 4 records came to quarantine, and 8 namespaces were reduced again"
        in second
    )


@pytest.mark.large
def report_of_nine(lake, out):
    """Write a report that began on 1 February at nine."""
    _, first = page_of(lake, out)
    made_at = json.loads(first.split('id="numbers">')[1].split("</script>")[0])["made_at"]
    out.write_text(first.replace(made_at, "2026-02-01T09:00:00Z"))


@pytest.mark.large
def test_records_that_a_killed_run_put_into_quarantine_are_new_once(lake, tmp_path):
    out = tmp_path / "fleet.html"
    report_of_nine(lake, out)
    nine, run = datetime(2026, 2, 1, 9, tzinfo=UTC), {"command": "ingest", "outcome": "ok", "seconds": 3.0}
    for killed, minutes, count in (("before", -20, 2), ("after", 20, 5)):
        again = nine + timedelta(minutes=minutes + 9)
        rows = [
            held(f"{killed} {at}".encode(), namespace="node:a", status="rejected", reasons=["TRUNCATED"])
            | {"first_seen": nine + timedelta(minutes=minutes), "last_seen": again, "times_seen": 2}
            | {"first_run": killed, "last_run": f"again {killed}"}
            for at in range(count)
        ]
        write(lake, "quarantine", rows)
        write(
            lake,
            "run",
            [run | {"run_id": f"again {killed}", "started_at": again, "counts": {"rejected": count}}],
        )
    _, second = page_of(lake, out)
    assert "Since then 1 run accepted 0 records; 5 records came to quarantine" in second


@pytest.mark.large
def test_a_run_that_was_under_way_during_a_report_is_new_in_the_next_one(lake, tmp_path):
    out = tmp_path / "fleet.html"
    report_of_nine(lake, out)
    for run, minutes, rejected in (("ended", 15, 7), ("under_way", 5, 3)):
        started_at = datetime(2026, 2, 1, 9, tzinfo=UTC) - timedelta(minutes=minutes)
        counts = {"read": 1_000 + rejected, "new": 1_000, "rejected": rejected}
        run_row = {"run_id": run, "command": "ingest", "outcome": "ok", "seconds": 300.25, "counts": counts}
        write(lake, "run", [run_row | {"started_at": started_at}])
        rows = [
            held(f"{run} {at}".encode(), namespace="node:a", status="rejected", reasons=["TRUNCATED"])
            | {"first_seen": started_at, "last_seen": started_at, "first_run": run, "last_run": run}
            for at in range(rejected)
        ]
        write(lake, "quarantine", rows)
    _, second = page_of(lake, out)
    assert "Since then 1 run accepted 1,000 records; 3 records came to quarantine" in second


@pytest.mark.parametrize(
    "content",
    [
        "mine", "<!doctype html><!-- strandline report -->",
        '<!doctype html><!-- strandline report --><script type="application/json" id="numbers">{"made_at":1}</script>',
        '<!doctype html><!-- strandline report --><script type="application/json" id="numbers">[</script>',
    ],
)  # fmt: skip
def test_a_file_that_is_no_report_is_not_replaced(lake, tmp_path, capsys, content):
    out = tmp_path / "mine.html"
    out.write_text(content)
    assert main(["report", "--lake", str(lake), "--out", str(out), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "OUT_EXISTS"
    assert out.read_text() == content
    assert main(["report", "--lake", str(lake), "--out", str(tmp_path), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "OUT_IS_FOLDER"


@pytest.mark.large
def test_a_lake_that_is_empty_damaged_or_not_reduced_says_so(tmp_path):
    lake = empty_lake(tmp_path / "lake")
    page, text = page_of(lake, tmp_path / "1.html")
    assert "This lake is empty" in text
    assert "namespaces" not in page.tables
    write(lake, "node_journal_line", [{"namespace": "node:a"}])
    _, text = page_of(lake, tmp_path / "2.html")
    assert "Not reduced yet: <code>node_journal_line</code>" in text
    assert "<h1>Not reduced yet</h1>" in text
    write(lake, "quarantine", [held(b"x", namespace=None, status="rejected", reasons=["BAD_NODE"])])
    _, text = page_of(lake, tmp_path / "3.html")
    assert "<h1>Not reduced yet</h1>" in text
    assert "a.journal" in text


@pytest.mark.large
def test_a_lake_that_accepted_nothing_says_so(tmp_path):
    lake = empty_lake(tmp_path / "lake")
    write(lake, "quarantine", [held(b"x", namespace=None, status="rejected", reasons=["BAD_NODE"])])
    _, text = page_of(lake, tmp_path / "1.html")
    assert "<h1>Nothing was accepted yet: 1 record is in quarantine</h1>" in text


@pytest.mark.large
def test_without_the_extra_nothing_is_written(lake, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygal", None)
    assert main(["report", "--lake", str(lake), "--out", str(tmp_path / "a.html"), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "REPORT_EXTRA_MISSING"
    assert not (tmp_path / "a.html").exists()


@pytest.mark.large
@pytest.mark.parametrize("code", ["TABLE_DAMAGED", "MEMORY_SHORT"])
def test_a_report_that_fails_leaves_the_earlier_page_whole(lake, tmp_path, capsys, monkeypatch, code):
    out = tmp_path / "out" / "fleet.html"
    out.parent.mkdir()
    _, text = page_of(lake, out)
    if code == "TABLE_DAMAGED":
        for file in (lake / "quarantine").rglob("*.parquet"):
            file.write_bytes(b"cut")
    else:
        monkeypatch.setattr("strandline.cli.page.render", lambda _: bytes(1 << 60))
    assert main(["report", "--lake", str(lake), "--out", str(out), "--json"]) == 3
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["error"]["code"] == code
    assert out.read_text(encoding="utf-8") == text
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.large
def test_a_report_over_a_lake_that_is_being_written_shows_one_state_of_it(lake, tmp_path, monkeypatch):
    from strandline.pipelines import fleet

    def read_later(opened, *given):
        write(lake, "namespace_state", [state("node:c"), state("node:d")])
        write(lake, "quarantine", [held(b"y", namespace="node:c", status="rejected", reasons=["TRUNCATED"])])
        return read(opened, *given)

    read = fleet.run
    page, _ = page_of(lake, tmp_path / "before.html")
    monkeypatch.setattr(fleet, "run", read_later)
    meanwhile, _ = page_of(lake, tmp_path / "meanwhile.html")
    assert meanwhile.numbers == page.numbers
    monkeypatch.undo()
    after, _ = page_of(lake, tmp_path / "after.html")
    assert after.numbers["records"] != page.numbers["records"]


@pytest.mark.large
def test_a_lake_of_very_many_namespaces_gives_a_small_page(tmp_path):
    lake = empty_lake(tmp_path / "lake")
    rejected_namespaces(lake, 100_000)
    page, text = page_of(lake, tmp_path / "fleet.html")
    assert page.numbers["rejected"] == "100,000"
    assert len(page.tables["namespaces"]) == 1 + 500
    assert len(text) < 500_000


def node(place: int, name: str, *parents: str) -> dict:
    return {"place": place, "id": name, "parents": list(parents), "label": "", "author": None, "marks": []}


def test_a_chain_has_one_lane_a_fork_two_and_a_merge_joins_them():
    chain = graph([node(1, "a"), node(2, "b", "a"), node(9, "c", "b")], forks=True)
    assert [(dot.row, dot.lane, dot.skipped) for dot in chain.dots] == [(0, 0, 0), (1, 0, 6), (2, 0, 0)]
    forked = graph([node(1, "a"), node(2, "b", "a"), node(2, "c", "a"), node(3, "d", "b")], forks=True)
    assert [(dot.node["id"], dot.lane, dot.is_fork) for dot in forked.dots] == [
        ("d", 0, False), ("c", 1, True), ("b", 0, True), ("a", 0, False),
    ]  # fmt: skip
    leaf = graph([node(1, "a"), node(2, "b", "a"), node(2, "c", "a")], forks=True)
    assert [(dot.node["id"], dot.lane) for dot in leaf.dots] == [("c", 1), ("b", 0), ("a", 0)]
    merged = graph(
        [node(1, "a"), node(2, "b", "a"), node(2, "c", "a"), node(3, "d", "b", "c", "gone")], forks=False
    )
    assert len(merged.lines) == 4
    assert not any(dot.is_fork for dot in merged.dots)
    assert (chain.width, chain.height, chain.lines) == (
        32,
        90,
        (("M16 45V75", 0), ("M16 15V45", 0)),
    )
    assert (forked.width, forked.height) == (48, 120)
    # Along the lane of the child, then across in the row above the parent.
    assert forked.lines == (
        ("M16 75V105", 0), ("M32 45V75C32 105 16 75 16 105", 1), ("M16 15V75", 0),
    )  # fmt: skip
    side = graph([node(1, "a"), node(1, "z"), node(2, "b", "a", "z")], forks=False)
    assert side.lines == (("M16 15V75", 0), ("M16 15V15C16 45 32 15 32 45", 1))
    assert [(dot.x, dot.y, dot.colour) for dot in side.dots] == [(16, 15, 0), (32, 45, 1), (16, 75, 0)]
    wide = graph([node(1, "a"), *(node(2, f"b{at}", "a") for at in range(200))], forks=True)
    assert wide.width < 300
