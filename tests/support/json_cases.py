"""The vectors of the strict JSON reader; their README says how they are described."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parents[1] / "vectors" / "strict_json" / "cases.json"
CASES: list[dict[str, Any]] = json.loads(_FILE.read_text("utf-8"))["cases"]


def bytes_of(case: Mapping[str, Any]) -> bytes:
    """The bytes of one described text."""
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    if "repeat" in case:
        text = case["repeat"][0] * case["repeat"][1]
    elif "nest" in case:
        text = "[" * case["nest"] + "]" * (case["nest"] if case.get("closed", True) else 0)
    else:
        text = case["text"]
    return (f'{{"a":{text}}}' if case.get("wrap") else text).encode()
