"""Finds what the candidates of a namespace wait for, in one pass over their links."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence


def missing_parents(
    lacking: Mapping[bytes, Sequence[bytes]], failing: Collection[bytes] = ()
) -> dict[bytes, tuple[bytes, ...]]:
    """Return the records that each candidate waits for, ascending; none for one that can be decided.

    `lacking` has, for each candidate of a namespace, the records that it needs and that are not accepted. Candidates
    that need nothing else are admitted, unless they are `failing`: what follows these waits. Records that name each
    other wait. Time and memory are linear in candidates and links.
    """
    children: defaultdict[bytes, list[bytes]] = defaultdict(list)
    left = {record_id: len(parents) for record_id, parents in lacking.items()}
    for record_id, parents in lacking.items():
        for parent in parents:
            children[parent].append(record_id)
    ready = [record_id for record_id, count in left.items() if not count and record_id not in failing]
    admitted = set(ready)
    while ready:
        for child in children[ready.pop()]:
            left[child] -= 1
            if not left[child] and child not in failing:
                admitted.add(child)
                ready.append(child)
    return {
        record_id: tuple(sorted(parent for parent in parents if parent not in admitted))
        for record_id, parents in lacking.items()
    }
