"""A dialect of another package, found by its entry point, keeps the laws that every dialect owes."""

import json
import random
import shutil
from collections import Counter

import pytest

from strandline import dialects
from strandline.cli import main
from strandline.contracts import reasons, resources, views
from support.conformance import Conformance
from support.packaged import ROOT
from toy_dialect.notes import Note, admitted, read_note, state_hash, tips, write_note

TOY = ROOT / "tests" / "toy_dialect"
CACHES = (dialects.infos, resources.registered, views.queries, reasons._registry)


class Reference:
    """Chains in plain Python: what was delivered, and what of it is in."""

    def __init__(self):
        self.notes: dict[bytes, Note] = {}
        self.refused: set[bytes] = set()

    @property
    def held(self):
        return admitted(self.notes.values())

    def ingest(self, files):
        before, waited = self.held, set(self.notes) - set(self.held)
        lines = [line for name in sorted(files) for line in files[name].removesuffix(b"\n").split(b"\n")]
        read = [(line, read_note(line)) for line in lines]
        self.notes |= {note.record_id: note for _, note in read if isinstance(note, Note)}
        self.refused |= {line for line, note in read if not isinstance(note, Note)}
        after = self.held
        came = Counter(note.record_id for _, note in read if isinstance(note, Note))
        return {
            "read": len(lines),
            "new": len((set(after) - set(before)) - waited),
            "known": sum(count for id_, count in came.items() if id_ in after)
            - len((set(after) - set(before)) - waited),
            "rejected": sum(not isinstance(note, Note) for _, note in read),
            "deferred": sum(count for id_, count in came.items() if id_ not in after),
            "readmitted": len(set(after) & waited),
        }

    def by_namespace(self):
        found: dict[str, list[Note]] = {}
        for note in self.held.values():
            found.setdefault(note.namespace, []).append(note)
        return found


def chains(seed, count, runs):
    """Random trees of notes over runs: some never come, some come twice, some lines are none."""
    draw = random.Random(seed)
    dealt = [[] for _ in range(runs)]
    for number in range(count):
        lines = [write_note(f"c{number}", b"", "first")]
        for at in range(draw.randrange(12)):
            parent = read_note(draw.choice(lines)).record_id
            lines.append(write_note(f"c{number}", parent, f"note {at}"))
        for line in lines:
            for _ in range(draw.choice([0, 1, 1, 1, 1, 2])):
                draw.choice(dealt).append(line)
        if draw.random() < 0.3:
            draw.choice(dealt).append(damaged(draw, lines[-1]))
    for each in dealt:
        draw.shuffle(each)
    return [
        {f"{at}.toy": b"\n".join(each[at::3]) + draw.choice([b"", b"\n"]) for at in range(3)}
        for each in dealt
    ]


def damaged(draw, line):
    """A line that is no note."""
    return draw.choice(
        [
            b"", b"{", line[:-1], line.replace(b"chain", b"chian"), line.replace(b'"c', b'"C'), b"[1]",
            line.replace(b'"text":', b'"text":1,"text":'), line.replace(b'"parent":', b'"parent":1,"more":'),
        ]
    )  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def registered(spark, empty_lakes, tmp_path_factory):
    """The package is installed; workers of Spark can import it."""
    # Lakes of other tests are made before the tables of this dialect are known.
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(TOY / "installed"))
        for cache in CACHES:
            cache.cache_clear()
        folder = tmp_path_factory.mktemp("toy")
        shutil.copytree(TOY, folder / "in" / "toy_dialect")
        spark.sparkContext.addPyFile(shutil.make_archive(str(folder / "toy"), "zip", folder / "in"))
        yield
    for cache in CACHES:
        cache.cache_clear()


class TestToy(Conformance):
    dialect = "toy"
    ending = ".toy"
    adds_tables = True

    spelled = ("block",)

    def corpus(self):
        return chains(5, 60, 2)

    def bytes_of(self, block):
        return block

    def reference(self):
        return Reference()

    def assert_counted(self, report, counts):
        assert {name: report.counts[name] for name in counts} == counts

    def assert_admitted(self, lake, reference):
        held = reference.held
        assert {row[0] for row in lake.rows("toy_note", "record_id")} == set(held)
        waits = {
            (id_, (f"record:{note.parent.hex()}",))
            for id_, note in reference.notes.items()
            if id_ not in held
        }
        rows = lake.rows("quarantine", "status", "record_id", "waits_for", "raw")
        assert {(id_, waits_for) for found, id_, waits_for, _ in rows if found == "deferred"} == waits
        assert {raw for found, _, _, raw in rows if found == "rejected"} == reference.refused

    def assert_reduced(self, lake, reference):
        notes = reference.by_namespace()
        assert set(lake.rows("toy_tip", "namespace", "record_id")) == {
            (name, tip) for name, each in notes.items() for tip in tips(each)
        }
        assert set(lake.rows("namespace_state", "namespace", "record_count", "state_hash")) == {
            (name, len(each), state_hash(each)) for name, each in notes.items()
        }

    def test_status_shows_its_namespaces_without_a_jvm(self, lakes, capsys):
        assert main(["status", "--all", "--json", "--lake", str(lakes.landed.path)]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert {row["namespace"] for row in shown["rows"]} >= set(lakes.reference.by_namespace())
        assert {row["dialect"] for row in shown["rows"]} == {"toy"}
