"""Globs of object keys: the table matches what the definition by recursion matches, in bounded work."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.tables import object_sources
from strandline.tables.object_sources import key_matches
from support.laws import law

PARTS = st.lists(st.sampled_from(["a", "b", "ab", ".a", "_a", "**"]), max_size=6)
PATTERNS = st.lists(st.sampled_from(["**", "*", "?", "a", "a*", "[ab]", ".*", ".a", "*a"]), max_size=6)


def defined(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern or not parts:
        return not parts and all(sign == "**" for sign in pattern)
    is_hidden = parts[0].startswith(".") and not pattern[0].startswith(".")
    if pattern[0] == "**":
        return defined(parts, pattern[1:]) or (not is_hidden and defined(parts[1:], pattern))
    return not is_hidden and fnmatchcase(parts[0], pattern[0]) and defined(parts[1:], pattern[1:])


@pytest.mark.large
@law(2000)
@given(PARTS, PATTERNS)
def test_the_table_matches_what_the_definition_matches(parts, pattern):
    assert key_matches(parts, pattern) == defined(parts, pattern)


@law(500)
@given(st.lists(st.lists(st.sampled_from(["a", "b", ".a"]), min_size=1, max_size=3), max_size=4), PATTERNS)
def test_keys_match_as_files_do(tmp_path_factory, keys, pattern):
    folder = tmp_path_factory.mktemp("keys")
    pattern = [*pattern, "*"] if pattern[-1:] == ["**"] else pattern or ["*"]
    for key in keys:
        folder.joinpath(*key[:-1]).mkdir(parents=True, exist_ok=True)
        folder.joinpath(*key[:-1], f"{key[-1]}.").touch()
    files = {path.relative_to(folder).parts for path in folder.rglob("*") if path.is_file()}
    found = {Path(each).parts for each in glob("/".join(pattern), root_dir=folder, recursive=True)}
    assert {key for key in files if key_matches(key, pattern)} == found & files


@pytest.mark.parametrize("depth", [400, 5000])
def test_a_deep_key_is_compared_once_with_each_part_of_the_pattern(depth, monkeypatch):
    compared = []

    def counted(part: str, sign: str) -> bool:
        compared.append(sign)
        assert len(compared) <= 6 * depth
        return fnmatchcase(part, sign)

    monkeypatch.setattr(object_sources, "fnmatchcase", counted)
    pattern = ["**", "a", "**", "a", "**", "x"]
    assert not key_matches(["a"] * depth, pattern)
    assert key_matches([*["a"] * (depth - 1), "x"], pattern)
