"""Finds the name that a user probably meant."""

import difflib
from collections.abc import Iterable


def nearest(word: str, names: Iterable[str]) -> str | None:
    """Return the most similar one of `names`, or None if none is similar. Ignores case."""
    by_folded = {name.casefold(): name for name in sorted(names)}
    found = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return `did you mean X?`, or the list of `names` if none is similar."""
    known = sorted(names)
    best = nearest(word, known)
    return f"did you mean {best}?" if best else f"use one of: {', '.join(known)}"
