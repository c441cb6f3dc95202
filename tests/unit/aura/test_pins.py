"""Files of pins: what they may say, and what is told of others."""

import pytest

from strandline.core.errors import UsageError
from strandline.dialects.aura.verify.pins import contradiction, parse_pins

U = "d21eb924-5a21-bff8-b6f5-465be2308d99"
PIN = "0A" * 32


def test_pins_are_found_by_namespace_however_it_is_spelled():
    raw = f'{{"authority:{U.upper()}":"{PIN}","context:{U}":"{PIN.lower()}"}}'.encode()
    assert parse_pins(raw, "pins.json") == {f"authority:{U}": b"\x0a" * 32, f"context:{U}": b"\x0a" * 32}
    assert parse_pins(b"{}", "pins.json") == {}


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
    assert f"authority:{U}" in contradiction(f"authority:{U}").message
