"""Which lines of one node a set of frames admits: the reference that Spark's admission is compared with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strandline.core.judgement import Status
from strandline.core.verdict import Evidence, evidence_of, reasons_of
from strandline.dialects.sdmp.codec import parse_line
from strandline.dialects.sdmp.types import Frame, Profile
from strandline.dialects.sdmp.verify.chain import Link, link_of, positions, root_of
from strandline.dialects.sdmp.verify.claims import Checked, check_frames
from strandline.dialects.sdmp.verify.elements import predecessor_unknown


@dataclass(frozen=True, slots=True)
class Delivery:
    """One element of one frame with its verdict. `frame` counts from 0, `pos` from 1; `reasons` are sorted."""

    frame: int
    pos: int
    raw: bytes
    status: Status
    reasons: tuple[str, ...]
    evidence: Evidence
    waits_for: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of judging frames of one node.

    `accepted` has n, `lines` the bytes of every line accepted until now, by record id: those accepted before,
    readmitted ones, new ones, and line 1 as soon as there is any other. `verdicts` has each delivery, in order. read
    = new + known + rejected + deferred. `readmitted` counts lines deferred before and accepted now; they do not count
    as read. `since_mismatch` counts frames whose first line is accepted and whose `since` does not name its
    predecessor. `shorter_journals` counts text journals that end before lines that were already accepted.
    """

    accepted: Mapping[bytes, int]
    lines: Mapping[bytes, bytes]
    verdicts: tuple[Delivery, ...]
    read: int
    new: int
    known: int
    rejected: int
    deferred: int
    readmitted: int
    since_mismatch: int
    shorter_journals: int


def judge(
    node: str,
    frames: Sequence[Frame | Sequence[bytes]],
    held: Iterable[bytes] = (),
    *,
    waiting: Iterable[bytes] = (),
    strict: bool = False,
    own: bool = False,
    restore: bool = False,
) -> Judgement:
    """Return which lines of `node` are accepted, and the verdict on each delivery.

    A bare sequence of lines is a text journal. `held` are lines accepted before, `waiting` lines deferred before,
    both by earlier runs. `own`: `node` is a local node; `restore`: its lines are restored in this run.

    An element claims to follow the element before it in its frame, unless it is the first or the one before failed
    check 5 or 6. An accepted delivery passes these checks (node journal rules, section 4):
    - 5, it has one of the two line forms: `MALFORMED_LINE`;
    - 6, a fingerprint is the first element and equals the node: `FIRST_LINE_MISPLACED`;
    - 7, `strict`: all ids are canonical: `NON_CANONICAL_ID`;
    - 8, its number is the hash of the element that it claims to follow: `LINE_NUMBER_MISMATCH`;
    - 9, the node is not `own`, or the line is in `held`, or `restore`: `OWN_LINE_NOT_HELD`. Line 1 counts as held;
    - 10, it is line 1, or its number is the hash of an accepted line: else it is deferred, `PREDECESSOR_UNKNOWN`.
      Deliveries that passed 5 to 9, `held` and `waiting` lines take part.
    Checks 7 to 9 are all evaluated. The accepted set depends only on the set of deliveries.

    A delivery is known if its line is in `held`, if it was waiting and is accepted now, or if the same run delivered
    it before. Waiting lines of an `own` node stay deferred: they would fail check 9.

    Raises:
        ValueError: `node` is no fingerprint, a frame is of another node, or not all of `held` and `waiting` are lines.
    """
    root = root_of(node)
    only_stored = own and not restore
    held_links = _links(held, root.line.profile)
    waiting_links = [] if only_stored else _links(waiting, root.line.profile)
    before = positions(root, held_links)
    checked = check_frames(frames, root, before, strict=strict, only_stored=only_stored)
    candidates = filter(None, (delivery.candidate for delivery in checked))
    links = {link.raw: link for link in (root, *held_links, *waiting_links, *candidates)}
    after = positions(root, links.values())
    readmitted = {link.raw for link in waiting_links if link.raw in after and link.raw not in before}
    stored = set(before) if any(link.raw in before for link in held_links) else set()
    verdicts = tuple(_delivery(delivery, after) for delivery in checked)
    statuses = [delivery.status for delivery in verdicts]
    delivered = {delivery.raw for delivery in verdicts if delivery.status == "accepted"}
    new = len(delivered - stored - readmitted)
    kept = after if stored or delivered or readmitted else {}
    return Judgement(
        accepted={links[raw].record_id: n for raw, n in kept.items()},
        lines={links[raw].record_id: raw for raw in kept},
        verdicts=verdicts,
        read=len(verdicts),
        new=new,
        known=statuses.count("accepted") - new,
        rejected=statuses.count("rejected"),
        deferred=statuses.count("deferred"),
        readmitted=len(readmitted),
        since_mismatch=_since_mismatches(checked, root, [links[raw] for raw in after]),
        shorter_journals=_shorter_journals(checked, held_links),
    )


def _links(lines: Iterable[bytes], profile: Profile) -> list[Link]:
    links = []
    for raw in lines:
        line = parse_line(raw, profile)
        if isinstance(line, str):
            raise ValueError("held and waiting must be lines of the node's profile")
        links.append(link_of(line))
    return links


def _delivery(checked: Checked, accepted: Mapping[bytes, int]) -> Delivery:
    link = checked.candidate
    if link is not None and link.raw in accepted:
        return Delivery(checked.frame, checked.pos, checked.raw, "accepted", (), {}, ())
    status: Status = "rejected"
    findings = checked.findings
    waits_for: tuple[str, ...] = ()
    if link is not None:
        status = "deferred"
        findings = (predecessor_unknown(checked.pos, checked.since),)
        waits_for = (f"line:{link.number}",)
    reasons, evidence = reasons_of(findings), evidence_of(findings)
    return Delivery(checked.frame, checked.pos, checked.raw, status, reasons, evidence, waits_for)


def _since_mismatches(checked: Iterable[Checked], root: Link, accepted: Iterable[Link]) -> int:
    fingerprint = root.raw.decode("ascii")
    number_of_predecessor = {link.hash: link.number or fingerprint for link in accepted}
    count = 0
    for delivery in checked:
        link = delivery.candidate
        if delivery.pos == 1 and delivery.since is not None and link is not None:
            # Requests name the position before line 1, and line 1 itself, by the fingerprint.
            expected = fingerprint if link.number is None else number_of_predecessor.get(link.number)
            count += expected is not None and expected != delivery.since
    return count


def _shorter_journals(checked: Sequence[Checked], held: Iterable[Link]) -> int:
    # A line that has an accepted successor is itself accepted.
    covered = {link.number for link in held}
    count = 0
    for at, delivery in enumerate(checked):
        is_last = at + 1 == len(checked) or checked[at + 1].frame != delivery.frame
        link = delivery.candidate
        if is_last and delivery.since is None and link is not None:
            count += link.hash in covered
    return count
