"""Trees of RFC 9162: published vectors, and every small tree against an oracle that follows the text of the RFC."""

import base64

import pytest

from strandline.core.merkle import (
    EMPTY_ROOT,
    consistency_path,
    inclusion_path,
    is_continued,
    is_included,
    leaf_hash,
    root_of,
)
from support.trees import LEAVES, flipped, ids, tree_root

SIZES = range(1, 34)
HASHES = [leaf_hash(each) for each in ids(max(SIZES))]


def root(start: int, end: int) -> bytes:
    return root_of(HASHES[start:end])


def in_base64(path):
    return [base64.b64encode(each).decode() for each in path]


def test_the_published_trees_have_their_roots():
    hashes = [leaf_hash(each) for each in LEAVES]
    assert EMPTY_ROOT.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert root_of([]) == EMPTY_ROOT
    assert hashes[3].hex() == "85738f01d0f6ea842218cc07d8332edc14b17fca274bd0ea7836384f462ab967"
    assert root_of(hashes[:5]).hex() == "dbd87cb1600e5d40900bfb6b9503e898507426d28b4990267e1abe1ef43a7082"
    assert root_of(hashes).hex() == "ba475d2f86bc9d9aef34c1ce6ce77555d326bc19273d329d0e8ee1c7ad55a574"


def test_the_published_paths():
    hashes = [leaf_hash(each) for each in LEAVES]

    def of(start, end):
        return root_of(hashes[start:end])

    assert in_base64(inclusion_path(3, 8, of)) == [
        "SNHakVJ+nX87lA+Ff26vsuQExaGHStiN+63E094crtQ=",
        "MrU7uzM8hcj7D1HzAm7lYQs3DcmsAHaPXbt/IPaxRtw=",
        "/tT8P7SIygaicaiZM7capvU344VjmNCgeznPX1jLavU=",
    ]
    assert in_base64(consistency_path(5, 8, of)) == [
        "0TO+677kOI1fXHFcbaHVHqx73Go/Dc+XSymPMOyRqp8=",
        "M7+kDqHM9/f/Gnz6IIsc1PM3EVuOWt4E3HOoXtCQiRw=",
        "TtpWoq8LoPIJOq5v+d0eaONGR8Y7IBmxN3BmP4iRZz4=",
        "nDTUeAr+1HtcQGXROPa5WtDhFo+l95mbFsb1e7yjWDA=",
    ]


@pytest.mark.parametrize("size", SIZES)
def test_roots_are_those_of_the_rfc(size):
    assert root(0, size) == tree_root(ids(size))


@pytest.mark.parametrize("part", [1, 2, 4, 8, 16])
def test_a_root_is_found_from_the_roots_of_equal_full_parts(part):
    for size in SIZES:
        parts = [root(start, min(start + part, size)) for start in range(0, size, part)]
        assert root_of(parts) == root(0, size), size


@pytest.mark.parametrize("size", [1, 2, 5, 8, 11, pytest.param(33, marks=pytest.mark.large)])
def test_each_leaf_is_proven_at_its_place_and_nowhere_else(size):
    for index in range(size):
        path = inclusion_path(index, size, root)
        fits = [
            (there, total)
            for total in range(size + 2)
            for there in range(-1, total + 1)
            if is_included(HASHES[index], there, total, path, root(0, size))
        ]
        # A path fits another size if the tree is split alike on the way up: the size is signed with the root.
        assert (index, size) in fits
        assert {there for there, total in fits if total == size} == {index}


def test_a_changed_path_proves_no_leaf():
    for size in (2, 3, 7, 8, 21):
        for index in range(size):
            path = inclusion_path(index, size, root)
            for at in range(len(path)):
                changed = [*path[:at], flipped(path[at], 5), *path[at + 1 :]]
                assert not is_included(HASHES[index], index, size, changed, root(0, size))
                assert not is_included(HASHES[index], index, size, path[:at] + path[at + 1 :], root(0, size))
            assert not is_included(HASHES[index], index, size, [*path, EMPTY_ROOT], root(0, size))
            assert not is_included(EMPTY_ROOT, index, size, path, root(0, size))
            assert not is_included(HASHES[index], index, size, path, EMPTY_ROOT)


@pytest.mark.parametrize("size", [1, 2, 5, 8, 13, pytest.param(33, marks=pytest.mark.large)])
def test_each_older_tree_is_proven_and_no_other_one(size):
    for old in range(1, size + 1):
        path = consistency_path(old, size, root)
        assert is_continued(old, size, path, root(0, old), root(0, size))
        assert not is_continued(old, size, path, EMPTY_ROOT, root(0, size))
        assert not is_continued(old, size, path, root(0, old), EMPTY_ROOT)
        assert not is_continued(old, size, [*path, EMPTY_ROOT], root(0, old), root(0, size))
        for at in range(len(path)):
            changed = [*path[:at], flipped(path[at], 200), *path[at + 1 :]]
            assert not is_continued(old, size, changed, root(0, old), root(0, size))
            assert not is_continued(old, size, path[:at] + path[at + 1 :], root(0, old), root(0, size))
        fits = [
            other
            for other in range(size + 2)
            if is_continued(other, size, path, root(0, other), root(0, size))
        ]
        assert fits == [old]


def test_what_a_tree_does_not_have_is_refused():
    for index, size in ((0, 0), (-1, 3), (3, 3)):
        with pytest.raises(ValueError, match=f"a tree of {size} leaves has no leaf {index}"):
            inclusion_path(index, size, root)
        assert not is_included(HASHES[0], index, size, [], root(0, size))
    for old, size in ((0, 3), (4, 3), (-1, 3)):
        with pytest.raises(ValueError, match=f"a tree of {size} leaves does not continue one of {old}"):
            consistency_path(old, size, root)
        assert not is_continued(old, size, [], root(0, 3), root(0, 3))
    assert not is_continued(3, 5, [], root(0, 3), root(0, 5))
