"""The JSON schema of what every command prints with --json."""

from typing import Any

from jsonschema import Draft202012Validator

COUNTS: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}

REPORT: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": [
        "command", "run_id", "outcome", "exit", "seconds", "session_seconds", "lake", "counts", "reasons",
        "namespaces", "tables",
    ],
    "properties": {
        "command": {"type": "string"},
        "run_id": {"type": "string", "pattern": "^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{12}$"},
        "outcome": {"enum": ["ok", "found", "usage", "fault"]},
        "exit": {"enum": [0, 1, 2, 3, 129, 130, 143]},
        "seconds": {"type": "number", "minimum": 0},
        "session_seconds": {"type": "number", "minimum": 0},
        "lake": {"type": ["string", "null"]},
        "counts": COUNTS,
        "reasons": {**COUNTS, "propertyNames": {"pattern": "^[A-Z][A-Z0-9_]*$"}},
        "namespaces": {"type": "integer", "minimum": 0},
        "tables": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["version", "inserted"],
                "additionalProperties": False,
                "properties": {
                    "version": {"type": "integer", "minimum": 0},
                    "inserted": {"type": "integer", "minimum": 0},
                },
            },
        },
        "error": {
            "type": "object",
            "required": ["code", "message", "next"],
            "additionalProperties": False,
            "properties": {
                "code": {"type": "string", "pattern": "^[A-Z][A-Z0-9_]*$"},
                "message": {"type": "string", "minLength": 1},
                "next": {"type": "string", "minLength": 1},
            },
        },
    },
    "allOf": [
        {
            "if": {"properties": {"outcome": {"const": outcome}}},
            "then": {"properties": {"exit": {"const": code}}, **({"required": ["error"]} if code >= 2 else {})},
        }
        for outcome, code in (("ok", 0), ("found", 1), ("usage", 2), ("fault", 3))
    ],
}  # fmt: skip

_VALIDATOR = Draft202012Validator(REPORT)


def check_report(report: object) -> None:
    """Raise `jsonschema.ValidationError` if `report` does not meet the schema."""
    _VALIDATOR.validate(report)
