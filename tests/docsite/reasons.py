"""The page of the reason codes: each with its meaning and what to do."""

from collections.abc import Mapping

from docsite import markdown
from docsite.markdown import code, words
from strandline.contracts.reasons import Reason

OUTCOMES = {
    "rejected": "the record is rejected",
    "deferred": "the record waits",
    "manifest": "a file differs from its manifest",
    "flag": "a mark on an accepted record",
    "fork": "a kind of conflict",
    "verdict": "the claim of an accepted record has no effect",
    "gc": "why a record stays, or what a collection found",
    "refused_call": "a call, or a journal writer, that was refused",
}


def page(reasons: Mapping[str, Reason]) -> str:
    """Return the page: the codes of all dialects, then those of each."""
    groups: dict[tuple[str, ...], list[Reason]] = {}
    for each in reasons.values():
        groups.setdefault(each.dialects, []).append(each)
    return markdown.page(
        "Reasons",
        "Why a record was rejected, waits or is in conflict. `strandline explain CODE` prints the same. Codes are"
        " stored in tables, so they are never renamed. The codes of errors, which end a command, are"
        " [no reasons](../usage.md#reason-codes-and-error-codes).",
        *(_group(dialects, each) for dialects, each in groups.items()),
    )


def _group(dialects: tuple[str, ...], reasons: list[Reason]) -> str:
    title = (
        "All dialects"
        if dialects == ("all",)
        else f"Dialect{'s' * (len(dialects) > 1)} {', '.join(dialects)}"
    )
    return "\n".join([f"## {title}\n", *map(_section, reasons)])


def _section(reason: Reason) -> str:
    outcomes = ", ".join(OUTCOMES[each] for each in reason.outcomes)
    waits = f"; its column waits_for begins with {code(reason.waits_for)}" if reason.waits_for else ""
    replay = " A later version may judge it otherwise." if reason.replay else ""
    return (
        f"### {reason.code}\n\n*{outcomes}{waits}* ({reason.severity}). {words(reason.meaning)}{replay}\n\n"
        f"What to do: {words(reason.advice)}\n"
    )
