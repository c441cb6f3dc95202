"""Which lines of one node a set of frames admits: the reference that Spark's admission is compared with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from strandline.core.verdict import Evidence, evidence_of, reasons_of
from strandline.dialects.sdmp.codec import parse_line
from strandline.dialects.sdmp.types import Frame, Profile
from strandline.dialects.sdmp.verify.chain import Link, link_of, positions, root_of
from strandline.dialects.sdmp.verify.claims import Checked, check_frame
from strandline.dialects.sdmp.verify.elements import predecessor_unknown

Status: TypeAlias = Literal["accepted", "rejected", "deferred"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One element of one frame with its verdict. `frame` counts from 0, `pos` from 1; `reasons` ascending."""

    frame: int
    pos: int
    raw: bytes
    status: Status
    reasons: tuple[str, ...]
    evidence: Evidence
    waits_for: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a node's journal.

    `accepted` gives n and `lines` the bytes of every line held now, by record id: what was held before, what
    waited, what came, and line 1 if there is any other. `verdicts` has each delivery, in order.
    read = new + known + rejected + deferred. `readmitted` counts lines that waited before; they are not read.
    `since_mismatch`: frames whose first line is accepted and whose `since` does not name the line before it.
    `shorter_journals`: text journals that end before lines that were held already.
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

    A bare sequence of lines is a text journal. `held` are lines accepted before, `waiting` lines deferred
    before.
    A delivery's claim is the hash of the element before it in its frame. It is open for the first element, and
    after one that failed check 5 or 6. These hold for an accepted delivery (node journal rules, section 4):
    - 5, it has one of the two line forms: `MALFORMED_LINE`;
    - 6, a fingerprint stands first and equals the node: `FIRST_LINE_MISPLACED`;
    - 7, `strict`, no id ends with an impossible character: `NON_CANONICAL_ID`;
    - 8, the claim is open or equals its number: `LINE_NUMBER_MISMATCH`;
    - 9, the node is not `own`, or the line is held, or `restore`: `OWN_LINE_NOT_HELD`. Line 1 counts as held;
    - 10, its line is in the least set that holds line 1, and holds a line of a delivery that passed 5 to 9,
      or that waited, when it holds the line its number names: else deferred, `PREDECESSOR_UNKNOWN`.
    7 to 9 are all evaluated. The accepted set depends on the set of deliveries alone.

    A line that is held, waited and is admitted now, or was delivered before in this run is known. Waiting
    lines of an own node stay as they are: check 9 lets none of them in.

    Raises:
        ValueError: `node` is no fingerprint, a frame is of another node, or `held` or `waiting` has no line.
    """
    root = root_of(node)
    profile = root.line.profile
    held_links = _links(held, profile)
    waiting_links = [] if own and not restore else _links(waiting, profile)
    before = positions(root, held_links)
    checked = [
        delivery
        for index, frame in enumerate(frames)
        for delivery in check_frame(index, frame, root, before, strict=strict, guarded=own and not restore)
    ]
    candidates = [delivery.candidate for delivery in checked]
    links = {link.raw: link for link in (root, *held_links, *waiting_links, *filter(None, candidates))}
    after = positions(root, links.values())
    readmitted = {link.raw for link in waiting_links if link.raw in after and link.raw not in before}
    holds_any = len(before) > 1 or any(link.raw == root.raw for link in held_links)
    stored = set(before) if holds_any else set()
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
    stand_in = root.raw.decode("ascii")
    number_of_predecessor = {link.hash: link.number or stand_in for link in accepted}
    count = 0
    for delivery in checked:
        link = delivery.candidate
        if delivery.pos == 1 and delivery.since is not None and link is not None:
            # Line 1 is asked for with its own fingerprint, as is line 2.
            right = stand_in if link.number is None else number_of_predecessor.get(link.number)
            count += right is not None and right != delivery.since
    return count


def _shorter_journals(checked: Sequence[Checked], held: Iterable[Link]) -> int:
    # What covers a line is held only together with it.
    covered = {link.number for link in held}
    count = 0
    for at, delivery in enumerate(checked):
        is_last = at + 1 == len(checked) or checked[at + 1].frame != delivery.frame
        link = delivery.candidate
        if is_last and delivery.since is None and link is not None:
            count += link.hash in covered
    return count
