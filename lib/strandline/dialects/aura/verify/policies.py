"""Policies: a total order of strictness, the stricter of two, and how many leaves one asks for."""

from strandline.dialects.aura.types import KeyRecord, Policy

_RANKS = {"Any": 0, "Threshold": 1, "All": 2}


def is_stricter(one: Policy, other: Policy) -> bool:
    """Return whether `one` is stricter than `other`: any < thresholds < all.

    Thresholds compare by the exact fraction m/n; of equal fractions the one with the smaller (m, n) is stricter.
    """
    if one.kind != "Threshold" or other.kind != "Threshold":
        return _RANKS[one.kind] > _RANKS[other.kind]
    left, right = one.m * other.n, other.m * one.n
    return left > right or (left == right and (one.m, one.n) < (other.m, other.n))


def meet(one: Policy, other: Policy) -> Policy:
    """Return the stricter of two policies: commutative, associative, idempotent."""
    return other if is_stricter(other, one) else one


def threshold(policy: Policy, leaves: int) -> int:
    """Return how many of the active leaves a policy asks for, at least 1: of `m of n` the same share of them."""
    count = max(leaves, 1)
    if policy.kind == "Any":
        return 1
    return count if policy.kind == "All" else -(-policy.m * count // policy.n)


def required_signers(key: KeyRecord, policy: Policy, leaves: int) -> int:
    """Return how many signers an operation needs: the threshold, within what the key gives.

    A threshold beyond the key would lock the authority out of rotating it.
    """
    return max(key.min_signers, min(threshold(policy, leaves), key.max_signers))
