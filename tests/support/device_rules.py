"""The rules of groups by the letter, with sets of entries: slow, and without code of the reducer."""

import hashlib

FIRST = (-2, 0, b"", 0)
LAST = (float("inf"),)


def _hash(*fields):
    texts = [str(field).encode() for field in fields]
    return hashlib.sha256(b"".join(b"%d:%b," % (len(text), text) for text in texts)).digest()


class Reference:
    """The state of a set of entries."""

    def __init__(self, entries, policy="keep-both", judges_screws=True):
        self.held = {entry.record_id: entry for entry in entries}
        self.policy = policy
        self.pasts = {}
        for entry in sorted(self.held.values(), key=lambda each: (each.lamport, each.seq)):
            self.pasts[entry.record_id] = {entry.record_id}.union(
                *(self.pasts[each] for each in self.parents(entry))
            )
        self.logs = {entry.log for entry in self.held.values()}
        self.settle()
        self.view = sorted((e for e in self.held.values() if self.shows(e)), key=self.order)
        self.v = [_hash("strandline/devicelog/view/1", self.group)]
        for entry in self.view:
            self.v.append(_hash("strandline/devicelog/view-step/1", self.v[-1].hex(), entry.record_id.hex()))
        if judges_screws:
            self.verdicts |= {e.record_id: self.screw(e) for e in self.held.values() if e.kind == "screw"}
            self.final_length = self.final()

    @property
    def group(self):
        return next(iter(self.held.values())).group.hex()

    @staticmethod
    def parents(entry):
        return [*entry.deps] if entry.prev is None else [entry.prev, *entry.deps]

    @staticmethod
    def order(entry):
        return entry.lamport, entry.utc, entry.record_id

    def of(self, log):
        return [entry for entry in self.held.values() if entry.log == log]

    def children(self, record_id):
        return [entry for entry in self.held.values() if entry.prev == record_id]

    def chain(self, record_id):
        found = set()
        while record_id is not None:
            found.add(record_id)
            record_id = self.held[record_id].prev
        return found

    def grants(self, log):
        """All grants of a log, with their ranks."""
        for entry in self.held.values():
            if entry.kind == "key" and log in entry.statement.initial:
                yield (*self.order(entry), entry.statement.initial.index(log)), entry
            elif entry.kind == "add-log" and entry.statement.log == log:
                yield (*self.order(entry), 0), entry

    def settle(self):
        self.rank, self.effective, self.ok, self.verdicts = {}, set(), set(), {}
        self.cut, self.statuses, self.withdrawn = {}, {}, {}
        candidates = []
        for entry in self.held.values():
            if entry.kind == "key":
                if entry.is_founder:
                    candidates.append((FIRST, entry.log, None))
                for rank, grant in self.grants(entry.log):
                    if grant.record_id in entry.deps:
                        candidates.append((rank, entry.log, grant.record_id))
        for rank, log, grant in sorted(candidates, key=lambda each: each[:2]):
            if log not in self.rank and (grant is None or grant in self.effective):
                self.rank[log] = rank
                self.settle_log(log)
        for log in self.logs - self.rank.keys():
            self.statuses[log] = "void"
            self.settle_log(log)
        self.settle_absent()

    def settle_log(self, log):
        rank = self.rank.get(log, LAST)
        ok = set()
        for entry in self.of(log):
            chain = self.chain(entry.record_id)
            start = next(self.held[each] for each in chain if self.held[each].prev is None)
            if start.is_founder or start.deps[0] in self.effective:
                ok.add(entry.record_id)
        if log not in self.rank:
            ok = set()
        self.ok |= ok
        removals = sorted((e for e in self.held.values() if e.kind == "remove-log"), key=self.order)
        removals = [entry for entry in removals if entry.statement.log == log]
        keep, deciding = set(ok), None
        for entry in removals:
            if entry.log != log:
                verdict = self.by_other(entry, self.rank.get(entry.log, LAST) >= rank)
                self.verdicts[entry.record_id] = verdict
                if verdict == "effective" and deciding is None:
                    deciding = entry
                    keep = ok & self.chain(entry.statement.last_id)
                    self.cut[log] = (entry.statement.last_seq, entry.statement.last_id, entry.record_id)
        by_seniors, deciding = set(keep), None
        for entry in removals:
            if entry.log == log:
                if entry.statement.last_id != entry.prev:
                    verdict = "REMOVE_CUTS_SEEN"
                elif entry.record_id not in by_seniors:
                    verdict = "REMOVE_BY_REMOVED"
                else:
                    verdict = "effective"
                    if deciding is None:
                        deciding = entry
                        keep &= self.chain(entry.record_id)
                        self.cut[log] = (entry.seq, entry.record_id, entry.record_id)
                self.verdicts[entry.record_id] = verdict
        if log in self.rank:
            self.statuses[log] = "removed" if log in self.cut else "active"
        else:
            self.cut.pop(log, None)
        self.effective |= keep

    def by_other(self, entry, is_not_senior):
        past, last = self.pasts[entry.record_id], entry.statement.last_id
        if is_not_senior:
            return "REMOVE_NOT_SENIOR"
        if last is None:
            cuts = any(each.record_id in past for each in self.of(entry.statement.log))
        else:
            cuts = last not in past or any(child.record_id in past for child in self.children(last))
        if cuts:
            return "REMOVE_CUTS_SEEN"
        return "effective" if entry.record_id in self.effective else "REMOVE_BY_REMOVED"

    def settle_absent(self):
        named = {e.statement.log for e in self.held.values() if e.kind in ("remove-log", "add-log")}
        named.update(*(e.statement.initial for e in self.held.values() if e.kind == "key"))
        for log in named - self.logs:
            grants = {rank for rank, grant in self.grants(log) if grant.record_id in self.effective}
            withdrawn = set()
            for entry in self.held.values():
                if entry.kind == "remove-log" and entry.statement.log == log:
                    behind = {rank for rank in grants if self.rank.get(entry.log, LAST) < rank}
                    self.verdicts[entry.record_id] = self.by_other(entry, not behind)
                    if self.verdicts[entry.record_id] == "effective":
                        withdrawn |= behind
            if grants:
                self.statuses[log] = "withdrawn" if withdrawn == grants else "pending"

    def fork_points(self, log):
        return [e for e in self.of(log) if len(self.children(e.record_id)) > 1]

    def shows(self, entry):
        if entry.kind != "msg" or entry.record_id not in self.effective:
            return False
        if self.policy == "keep-both":
            return True
        firsts = [e for e in self.of(entry.log) if e.kind == "key" and e.record_id in self.effective]
        if len(firsts) > 1:
            return False
        for point in self.fork_points(entry.log):
            effective = [
                child for child in self.children(point.record_id) if child.record_id in self.effective
            ]
            if len(effective) > 1 and entry.seq > point.seq:
                return False
        return True

    def tips(self, log):
        return [entry for entry in self.of(log) if not self.children(entry.record_id)]

    def removals(self):
        """The effective remove-log entries."""
        claims = [self.held[each] for each, verdict in self.verdicts.items() if verdict == "effective"]
        return [entry for entry in claims if entry.kind == "remove-log"]

    def may_start_anew(self, log):
        ranks = [rank for rank, grant in self.grants(log) if grant.record_id in self.effective]
        bound = self.rank.get(log, LAST)
        if self.statuses[log] == "void":
            others = [self.rank[e.log] for e in self.removals() if e.statement.log == log and e.log != log]
            bound = min([LAST, *others])
        return self.statuses[log] in ("void", "removed") and any(rank < bound for rank in ranks)

    def is_waited(self, log):
        by_others = {e.statement.log for e in self.removals() if e.log != e.statement.log}
        status = self.statuses[log]
        return status in ("active", "pending") or (status == "removed" and log not in by_others)

    def held_back(self):
        """What holds final rows back, by log: a word, or how many rows its newest entry has not seen."""
        found = {}
        for log in self.statuses:
            tips = self.tips(log)
            past = self.pasts[tips[0].record_id] if tips else set()
            if self.may_start_anew(log):
                found[log] = "may start anew"
            elif self.is_waited(log) and len(tips) != 1:
                found[log] = "forked" if tips else "pending"
            elif self.is_waited(log) and any(each.record_id not in past for each in self.removals()):
                found[log] = "unsettled"
            elif self.is_waited(log) and (behind := sum(each.record_id not in past for each in self.view)):
                found[log] = f"behind {behind}"
        return found

    def final(self):
        waited = [log for log in self.statuses if self.is_waited(log)]
        words = set(self.held_back().values())
        if words & {"may start anew", "forked", "pending", "unsettled"}:
            return 0
        pasts = [self.pasts[self.tips(log)[0].record_id] for log in waited]
        count = 0
        while count < len(self.view) and all(self.view[count].record_id in past for past in pasts):
            count += 1
        return count

    def screw(self, entry):
        stated = entry.statement
        own = self.pasts[entry.record_id] - {entry.record_id}
        prev = self.held[entry.prev]
        newest = {prev.record_id} | ({prev.prev} if prev.kind == "remove-log" else set())
        if not own.issuperset(stated.from_heads) or len(newest & set(stated.from_heads)) != 1:
            return "SCREW_FROM"
        before = set().union(*(self.pasts[each] for each in stated.from_heads))
        one, two = (
            Reference([self.held[each] for each in ids], judges_screws=False) for ids in (before, own)
        )
        common = 0
        while common < min(len(one.view), len(two.view)) and one.view[common] == two.view[common]:
            common += 1
        if (stated.n_before, stated.v_before) != (len(one.view), one.v[-1]):
            return "SCREW_BEFORE"
        if (stated.n_after, stated.v_after) != (len(two.view), two.v[-1]):
            return "SCREW_AFTER"
        if stated.rewind > common or stated.v_rewind != one.v[stated.rewind]:
            return "SCREW_REWIND"
        return "SCREW_NEEDLESS" if common == len(one.view) else "true"
