"""Files of pins: what they may say, and what is told of others."""

import pytest

from strandline.cli import main
from strandline.core.errors import UsageError
from strandline.dialects.aura.verify.pins import Pins, contradiction, parse_pins

U = "d21eb924-5a21-bff8-b6f5-465be2308d99"
PIN = "0A" * 32


def test_pins_are_found_by_namespace_however_it_is_spelled():
    raw = f'{{"authority:{U.upper()}":"{PIN}","context:{U}":"{PIN.lower()}"}}'.encode()
    assert parse_pins(raw, "pins.json") == Pins(
        {f"authority:{U}": b"\x0a" * 32, f"context:{U}": b"\x0a" * 32}, "pins.json"
    )
    assert parse_pins(b"{}", "pins.json") == Pins({}, "pins.json")


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        ("{", "is not strict JSON"),
        ("[]", "must be an object"),
        (f'{{"{U}":"{PIN}"}}', "is no namespace"),
        (f'{{"log:{U}":"{PIN}"}}', "is no namespace"),
        (f'{{"authority:{U}":"{PIN[1:]}"}}', "64 hex digits"),
        (f'{{"authority:{U}":"{PIN[1:]}g"}}', "64 hex digits"),
        (f'{{"authority:{U}":1}}', "64 hex digits"),
        (f'{{"authority:{U}":"{PIN}","authority:{U.upper()}":"{PIN}"}}', "twice"),
        (f'{{"authority:{U}":"{PIN}","authority:{U}":"{PIN}"}}', "is not strict JSON"),
    ],
)
def test_a_wrong_file_is_named_with_its_fault(raw, fault):
    with pytest.raises(UsageError) as refused:
        parse_pins(raw.encode(), "pins.json")
    assert refused.value.code == "AURA_PINS_INVALID"
    assert refused.value.message.startswith("The file pins.json ")
    assert fault in refused.value.message


def test_a_contradiction_names_its_namespace():
    told = contradiction("pins.json", f"authority:{U}").message
    assert "pins.json" in told
    assert f"authority:{U}" in told


@pytest.mark.parametrize("command", ["ingest", "stream"])
@pytest.mark.parametrize("raw", ["{", f'{{"log:{U}":"{PIN}"}}', f'{{"authority:{U}":"{PIN[1:]}"}}'])
def test_a_command_with_a_wrong_file_ends_with_2_and_makes_no_lake(tmp_path, capsys, command, raw):
    pins, source, lake = tmp_path / "pins.json", tmp_path / "in", tmp_path / "lake"
    pins.write_text(raw)
    source.mkdir()
    (source / "facts.jsonl").touch()
    words = [command, str(source), "--dialect", "aura", "--aura-pins", str(pins), "--lake", str(lake)]
    assert main([*words, *(["--available-now"] if command == "stream" else [])]) == 2
    told = capsys.readouterr().err
    assert str(pins) in told
    assert ("authority:" if "authority" in raw else "log:" if "log" in raw else "JSON") in told
    assert not lake.exists()
