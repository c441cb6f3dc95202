"""The state of a group as a pure function of its accepted entries and of the fork policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from strandline.dialects.devicelog.reduce.branches import NONE
from strandline.dialects.devicelog.reduce.final import final_length, waited_logs
from strandline.dialects.devicelog.reduce.forks import disputed_above, forked_logs
from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.reduce.membership import Membership, Memberships, Status, resolve
from strandline.dialects.devicelog.reduce.screws import Screw, judged_screws
from strandline.dialects.devicelog.reduce.state_hash import LogState, state_hash
from strandline.dialects.devicelog.reduce.view import messages, prefix_hashes
from strandline.dialects.devicelog.reduce.view_hashes import ViewHashes
from strandline.dialects.devicelog.reduce.whole import Whole, whole_of
from strandline.dialects.devicelog.types import FORK_POLICIES, ForkPolicy, Header


def reducer_version(policy: ForkPolicy) -> str:
    """Return the version of these rules under a fork policy: it changes when any state does."""
    return f"devicelog-1:{policy}"


@dataclass(frozen=True)
class State:
    """The state of a group.

    `view` are the ids of its messages in order, `hashes` are v_0 to v_n of its prefixes. The first `final_length` rows
    keep their places, unless a log that is waited for forks. `forked` are the logs with a fork.
    """

    group: bytes
    policy: ForkPolicy
    whole: Whole = field(repr=False)
    membership: Membership = field(repr=False)
    view: tuple[bytes, ...] = field(repr=False)
    hashes: tuple[bytes, ...] = field(repr=False)
    forked: frozenset[bytes] = field(repr=False)
    disputed_above: Mapping[bytes, int] = field(repr=False)
    final_length: int

    @property
    def graph(self) -> Graph:
        """The entries with their branches."""
        return self.whole.graph

    @cached_property
    def memberships(self) -> Memberships:
        """The membership of pasts."""
        return Memberships(self.graph)

    @property
    def view_hash(self) -> bytes:
        """v_n, equal for equal sets of entries under one policy."""
        return self.hashes[-1]

    @property
    def is_feed(self) -> bool:
        """Whether this is a Scuttlebutt feed, which has no membership."""
        return self.graph.entries[0].profile == "ssb"

    @property
    def statuses(self) -> Mapping[bytes, Status]:
        """Status by log: active, removed, void, pending or withdrawn."""
        return self.membership.statuses

    def judged_screws(self) -> Iterator[Screw]:
        """Yield the screws, each with its verdict, log by log."""
        return judged_screws(self.whole, self.memberships, ViewHashes(self.graph.branches, self.hashes[0]))

    @cached_property
    def screws(self) -> tuple[Screw, ...]:
        """The screws, each with its verdict, log by log."""
        return tuple(self.judged_screws())

    @cached_property
    def waited(self) -> set[bytes]:
        """The logs that the final prefix waits for."""
        return waited_logs(self.graph, self.membership)

    @cached_property
    def verdicts(self) -> Mapping[bytes, str]:
        """Verdict by id of a remove-log (`effective` or a code) or a screw (`true` or a code)."""
        entries = self.graph.entries
        removals = {entries[index].record_id: verdict for index, verdict in self.membership.verdicts.items()}
        return removals | {entries[screw.index].record_id: screw.verdict for screw in self.screws}

    def message_status(self, index: int) -> str:
        """Return `effective`, `removed`, `void`, or `disputed`: effective, and frozen by the policy."""
        status = self.membership.entry_status(self.graph, index)
        header = self.graph.entries[index]
        if status == "effective" and header.seq > self.disputed_above.get(header.log, header.seq):
            return "disputed"
        return status

    @cached_property
    def state_hash(self) -> bytes:
        """Hash of the state, 32 bytes: policy, view, and per log its status, cut, forks and tips."""
        return state_hash(self.policy, self.group, len(self.view), self.view_hash, self._logs())

    def _logs(self) -> Iterator[LogState]:
        entries = self.graph.entries
        for log, status in self.statuses.items():
            cut = self.membership.cuts.get(log)
            last = None if cut is None or cut.last is None else entries[cut.last].record_id
            tips = tuple(entries[tip].record_id for tip in self.graph.tips(log))
            yield LogState(log, status, None if cut is None else cut.seq, last, log in self.forked, tips)


def reduce(entries: Iterable[Header], policy: ForkPolicy = "keep-both") -> State:
    """Return the state of a set of entries that is closed under references; copies count once.

    Raises:
        ValueError: no entries, entries of two groups, an entry whose parent is missing, an unknown policy.
    """
    if policy not in FORK_POLICIES:
        raise ValueError(f"the fork policy is one of {', '.join(FORK_POLICIES)}")
    whole = whole_of(entries)
    graph = whole.graph
    if not graph.entries:
        raise ValueError("a state is that of at least one entry")
    membership = resolve(graph)
    above = disputed_above(graph, membership) if policy == "freeze" else {}
    group = graph.entries[0].group
    view = tuple(record_id for _, _, record_id in sorted(_effective(graph, membership, above)))
    return State(
        group=group,
        policy=policy,
        whole=whole,
        membership=membership,
        view=view,
        hashes=tuple(prefix_hashes(group, view)),
        forked=frozenset(forked_logs(graph)),
        disputed_above=above,
        final_length=final_length(graph, membership, view),
    )


def _effective(
    graph: Graph, membership: Membership, disputed: Mapping[bytes, int]
) -> Iterable[tuple[int, int, bytes]]:
    for number, branch in enumerate(graph.branches):
        bound = membership.kept(graph, number)
        upto = min(bound, disputed.get(branch.log, bound))
        yield from messages(branch, NONE, upto)
