"""Every error code that the library can raise, and every reason of the registry, is named by a test."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from strandline.contracts.reasons import reasons
from strandline.core import errors

ROOT = Path(__file__).parents[2]
LIB = ROOT / "lib" / "strandline"
CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
RAISED = {
    "ReportError",
    *(
        name
        for name, found in vars(errors).items()
        if isinstance(found, type) and issubclass(found, errors.StrandlineError)
    ),
}
ONLY_LISTED = ("test_reasons.py", "test_codes.py")
"""These list codes and show nothing of what gives them."""


def codes_raised(source: str) -> set[str]:
    """The codes of the errors that a module raises; where a variable gives the code, all that the module spells."""
    tree, found = ast.parse(source), set()
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _is_error(call.func):
            given = next((each.value for each in call.keywords if each.arg == "code"), None) or next(
                iter(call.args), None
            )
            if given is not None and not isinstance(given, ast.Attribute):
                found |= set(_spelled(given)) or set(_spelled(tree))
    return found


def _is_error(function: ast.expr) -> bool:
    match function:
        case ast.Name(name) | ast.Attribute(attr=name) if name in RAISED:
            return True
        case ast.Attribute(value=ast.Call(func=ast.Name("super")), attr="__init__"):
            return True
    return False


def _spelled(tree: ast.AST) -> Iterator[str]:
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and CODE.fullmatch(each.value):
            yield each.value


def texts_of(source: str) -> Iterator[str]:
    """The strings of a module and the names of keywords, docstrings left out."""
    tree = ast.parse(source)
    said = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in said:
            yield each.value
        if isinstance(each, ast.keyword) and each.arg is not None:
            yield each.arg


@cache
def named_by_tests() -> frozenset[str]:
    """The codes in strings of tests, and in the data that they read."""
    modules = [path for path in (ROOT / "tests").rglob("*.py") if path.name not in ONLY_LISTED]
    texts = [text for path in modules for text in texts_of(path.read_text("utf-8"))]
    texts += [path.read_text("utf-8") for path in (ROOT / "tests" / "vectors").rglob("*.json")]
    return frozenset(code for text in texts for code in CODE.findall(text))


@cache
def raised_by_lib() -> dict[str, str]:
    return {
        code: str(path.relative_to(LIB))
        for path in sorted(LIB.rglob("*.py"))
        for code in codes_raised(path.read_text("utf-8"))
    }


@pytest.mark.large
def test_every_error_code_is_named_by_a_test():
    raised = raised_by_lib()
    assert len(raised) > 100
    assert {code: where for code, where in raised.items() if code not in named_by_tests()} == {}


@pytest.mark.large
def test_every_reason_is_named_by_a_test():
    assert sorted(set(reasons()) - named_by_tests()) == []


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ('raise UsageError("A_B", "m", "n")', {"A_B"}),
        ('raise errors.FaultError(code="A_B", message="C", next="D")', {"A_B"}),
        ('UsageError("A_B" if x else "C_D", "m", "n")', {"A_B", "C_D"}),
        ('TABLE = (("A_B", "not a CODE"),)\nFaultError(code, message, next)', {"A_B"}),
        ('class X(UsageError):\n    def __init__(self):\n        super().__init__("A_B", "m", "n")', {"A_B"}),
        ("ReportError(error.code, error.message, error.next)", set()),
        ('ValueError("A_B")', set()),
    ],
)
def test_codes_are_found_however_they_are_given(source, codes):
    assert codes_raised(source) == codes


def test_a_docstring_names_no_code():
    source = '"""A_B."""\ndef test_x():\n    """C_D."""\n    assert code == refused(E_F={}, like="G_H")\n'
    assert sorted(texts_of(source)) == ["E_F", "G_H", "like"]
