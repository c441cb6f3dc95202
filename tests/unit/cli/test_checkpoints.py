"""`checkpoint` and `prove` on the command line: the key, what is refused at once, and what the reports say."""

import json

import pytest
from rich.console import Console

from strandline.cli import main, show
from strandline.cli.signing import signer_of
from strandline.core.ed25519 import Ed25519Key
from strandline.core.errors import UsageError
from strandline.pipelines.prove_request import ProveRequest
from strandline.pipelines.report import Report

KEY = "STRANDLINE_CHECKPOINT_KEY"
SEED = "07" * 32


def test_the_signer_has_the_key_of_the_environment_and_shows_it_nowhere():
    assert signer_of({}, None) is None
    signer = signer_of({KEY: SEED.upper()}, "example.org/strandline")
    assert (signer.origin, signer.seed) == ("example.org/strandline", b"\x07" * 32)
    assert signer.public_key == Ed25519Key(b"\x07" * 32).public
    assert "seed" not in repr(signer)


@pytest.mark.parametrize(
    ("text", "origin", "code"),
    [
        (SEED, None, "ORIGIN_INVALID"),
        (SEED, "", "ORIGIN_INVALID"),
        (SEED, "two words", "ORIGIN_INVALID"),
        (SEED, "a+b", "ORIGIN_INVALID"),
        (SEED, "example.org\n", "ORIGIN_INVALID"),
        ("", "example.org", "CHECKPOINT_KEY"),
        (SEED[:-1], "example.org", "CHECKPOINT_KEY"),
        (f"{SEED}0", "example.org", "CHECKPOINT_KEY"),
        (f"{SEED}\n", "example.org", "CHECKPOINT_KEY"),
        ("secret-" + "x" * 57, "example.org", "CHECKPOINT_KEY"),
    ],
)
def test_a_key_without_a_name_or_a_name_without_a_key_signs_nothing(text, origin, code):
    with pytest.raises(UsageError) as refused:
        signer_of({KEY: text}, origin)
    assert refused.value.code == code
    assert not text or text.strip() not in str(refused.value)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["prove", "a", "--out", "x", "--record", "5d"], "RECORD_ID_INVALID"),
        (["prove", "a", "--out", "x", "--record", "x" * 64], "RECORD_ID_INVALID"),
        (["prove", "a", "--out", "x", "--record", SEED + "\n"], "RECORD_ID_INVALID"),
        (["prove", "a", "--out", "x", "--consistency", "none"], "OPTION_FILE"),
        (["prove", "a", "--out", "x", "--consistency", "bytes"], "NOTE_REFUSED"),
        (["prove", "a", "--out", "x", "--consistency", "bytes", "--record", SEED], "PROOFS_TWICE"),
        (["prove", "a", "--out", "there"], "OUT_EXISTS"),
        (["prove", "a", "--out", "nowhere/x"], "OUT_NOT_WRITABLE"),
        (["prove", "a", "--out", "x"], "LAKE_NOT_FOUND"),
        (["checkpoint", "--origin", "a b"], "ORIGIN_INVALID"),
        (["checkpoint", "--origin", "example.org"], "CHECKPOINT_KEY"),
        (["checkpoint", "--dialect", "nobody"], "DIALECT_UNKNOWN"),
        (["checkpoint"], "LAKE_NOT_FOUND"),
    ],
)
def test_what_cannot_be_proven_or_signed_is_refused_before_spark_starts(
    monkeypatch, tmp_path, capsys, words, code
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(KEY, raising=False)
    (tmp_path / "bytes").write_bytes(b"\xff")
    (tmp_path / "there.checkpoint").touch()
    before = sorted(tmp_path.iterdir())
    assert main([*words, "--json", "--quiet"]) in (2, 3)
    assert json.loads(capsys.readouterr().out)["error"]["code"] == code
    assert sorted(tmp_path.iterdir()) == before


def test_the_files_of_a_proof_are_named_by_what_is_proven(tmp_path):
    out = tmp_path / "a.b"
    names = {
        ("a.b.checkpoint",): {},
        ("a.b.tlog-proof", "a.b.record"): {"record_id": bytes(32)},
        ("a.b.consistency",): {"old_note": "note"},
    }
    for expected, request in names.items():
        assert tuple(path.name for path in ProveRequest("a", out, **request).paths()) == expected


def shown(function, report):
    console = Console(width=100, no_color=True)
    with console.capture() as capture:
        function(console, report)
    return capture.get().splitlines()


COUNTS = {"checkpoints": 2, "leaves": 7, "signed": 2, "unchanged": 5, "damaged": 0, "overtaken": 0}
SIGNED = {"origin": "example.org/strandline", "public_key": "ab" * 32, "damaged": []}


def test_the_report_of_checkpoint_says_what_was_signed():
    report = Report("checkpoint", "r", lake="/lake", counts=COUNTS, namespaces=7, members=SIGNED)
    assert shown(show.checkpoint, report) == [
        "checkpoint /lake, 0.0 s",
        "checkpoints 2, leaves 7, signed 2, unchanged 5",
        "7 namespaces",
        "signed as example.org/strandline/NAMESPACE",
        f"public key: {'ab' * 32}",
        "next: strandline prove NAMESPACE --out NAME --lake /lake",
    ]


def test_the_report_of_checkpoint_names_damage_and_says_what_to_do():
    what = {"seq": 3, "size": 9, "lost": 0, "first_lost": None, "note": None}
    damaged = [
        what | {"namespace": "log:a", "damage": "REMOVED", "lost": 2, "first_lost": "cd" * 32},
        what | {"namespace": "log:b\x1b[1m", "damage": "ALTERED"},
        what | {"namespace": "log:c", "damage": "NOTE_WRONG", "seq": 4, "note": "why"},
    ]
    counts = COUNTS | {"damaged": 5, "overtaken": 1, "signed": 0}
    members = {"origin": None, "public_key": None, "damaged": damaged}
    report = Report(
        "checkpoint", "r", "found", 1, lake="/lake", counts=counts, namespaces=12, members=members
    )
    text = "\n".join(shown(show.checkpoint, report))
    assert "damaged: log:a: 2 records of its tree are in no table, the first one" in text
    assert "cd" * 32 in text.replace("\n", "")
    assert "damaged: log:b\\x1b[1m: its leaves have not the root of checkpoint 3" in text
    assert "damaged: log:c: the note of checkpoint 4 is refused, why" in text
    assert "damaged: 2 more" in text
    assert "another run was faster with 1 namespace: run the command again" in text
    assert "signed as" not in text
    assert text.endswith("next: strandline check --lake /lake")


def test_the_report_of_prove_says_what_is_proven():
    base = {
        "namespace": "log:a", "log": "o/log:a", "public_key": "ab" * 32, "verifier_key": "v", "seq": 2, "size": 1_234,
        "files": ["/x.tlog-proof"],
    }  # fmt: skip
    lines = {
        "the record is at place 7": {"position": 7, "is_pruned": False},
        "the record was pruned: its bytes are not in the lake": {"position": 7, "is_pruned": True},
        "the tree continues that of the older note, of 1 record": {"old_size": 1},
    }
    for line, members in lines.items():
        text = shown(show.prove, Report("prove", "r", lake="/lake", namespaces=1, members=base | members))
        assert "o/log:a: 1,234 records, checkpoint 2" in text
        assert line in text
        assert "written: /x.tlog-proof" in text
        assert f"public key: {'ab' * 32}" in text
