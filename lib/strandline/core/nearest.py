"""The right name that a wrong one was probably meant to be."""

import difflib
from collections.abc import Iterable


def nearest(word: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that is most like `word`, or None if none is like it; case plays no part."""
    by_folded = {name.casefold(): name for name in sorted(names)}
    found = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return `did you mean X?`, or the list of `names` where none is like `word`."""
    known = sorted(names)
    best = nearest(word, known)
    return f"did you mean {best}?" if best else f"use one of: {', '.join(known)}"
