"""Every check has a case here that it must find: rows of `support.planted` with one thing made wrong."""

from decimal import Decimal
from hashlib import sha256

from strandline.core.hashing import equivocation_id, quarantine_id
from strandline.dialects.ipfslog.author import Identity
from strandline.dialects.sdmp.codec import line_hash
from support.ipfslog_cases import TYPES, secret
from support.log_lakes import identity_row
from support.planted import (
    CASES,
    Rows,
    authority,
    context,
    covered_log,
    devices,
    forked_journal,
    identities,
    journal,
    listed_log,
    log,
    manifests,
    met_devices,
    own_node,
    planted,
    pruned_log,
    runs,
    waiting_journal,
)

OTHER = bytes(31) + b"\1"
AGREE = "node_journals_agree_with_lines"
LOGS_AGREE = "logs_agree_with_entries"


def sound(rows: Rows) -> None:
    """Leave rows as they are: no check may find anything."""


for make in (
    journal,
    forked_journal,
    waiting_journal,
    log,
    listed_log,
    identities,
    manifests,
    pruned_log,
    covered_log,
    runs,
    own_node,
    authority,
    context,
):
    planted(make)(sound)


# What contracts say, for a table of each kind.


@planted(own_node, "keys_are_unique")
def a_key_twice(rows):
    rows["wanted_resource"] *= 2


@planted(own_node, "keys_are_unique")
def a_key_of_bytes_twice(rows):
    rows["quarantine"] *= 2


@planted(own_node, "buckets_are_derived")
def a_row_in_another_bucket(rows):
    rows["node_resource"][0]["bucket"] ^= 1


@planted(own_node, "buckets_are_derived")
def a_row_without_namespace_in_another_bucket(rows):
    rows["quarantine"][0]["bucket"] ^= 1


@planted(own_node, "constraints_hold")
def a_constraint_that_is_false(rows):
    rows["node_resource"][0]["pos"] = -1


@planted(own_node, "constraints_hold")
def a_constraint_that_is_null(rows):
    rows["wanted_resource"][0] |= {"named_by": None, "recorded": False}


@planted(runs, "constraints_hold")
def a_constraint_of_a_table_without_buckets(rows):
    rows["run"][0]["exit"] = 3


# Journals.


@planted(waiting_journal, "accepted_lines_do_not_wait")
def an_accepted_line_that_waits(rows):
    [waiting] = [row for row in rows["quarantine"] if row["status"] == "deferred"]
    line = rows["node_journal_line"][2]
    raw = "{line_number}@{author_fp}/{resource_id}".format(**line).encode()
    waiting |= _kept(waiting, raw) | {"record_id": line["record_id"]}


@planted(forked_journal, "equivocations_agree_with_lines")
def a_fork_that_is_not_told(rows):
    rows["equivocation"] = []


@planted(forked_journal, "equivocations_agree_with_lines")
def a_fork_that_no_lines_show(rows):
    [fork] = rows["equivocation"]
    other = fork | {"position": "0" * 64}
    other["equivocation_id"] = equivocation_id(
        *(other[name] for name in ("namespace", "kind", "key", "position"))
    )
    rows["equivocation"].append(other)


@planted(forked_journal, "equivocations_are_well_formed")
def an_equivocation_with_another_id(rows):
    rows["equivocation"][0]["equivocation_id"] = OTHER


@planted(forked_journal, "equivocations_are_well_formed", "equivocations_agree_with_lines")
def an_equivocation_whose_members_descend(rows):
    rows["equivocation"][0]["members"].reverse()


@planted(
    forked_journal, "equivocations_are_well_formed", "equivocations_agree_with_lines", "constraints_hold"
)
def an_equivocation_of_one_member(rows):
    rows["equivocation"][0]["members"] = rows["equivocation"][0]["members"][:1]


@planted(
    forked_journal, "equivocations_are_well_formed", "equivocations_agree_with_lines", "constraints_hold"
)
def an_equivocation_of_nothing(rows):
    rows["equivocation"][0] |= {"members": [], "member_count": 0}


@planted(forked_journal, "equivocations_are_well_formed")
def an_equivocation_of_journals_that_is_attributable(rows):
    rows["equivocation"][0]["attributable"] = True


@planted(log, "equivocations_are_well_formed")
def an_equivocation_of_logs_that_is_not_attributable(rows):
    rows["equivocation"][0]["attributable"] = False


@planted(log, "equivocations_are_well_formed")
def an_equivocation_with_the_bytes_of_another_record(rows):
    rows["equivocation"][0]["bytes_b"] = rows["equivocation"][0]["bytes_a"]


@planted(journal, "journals_start_once", "lines_follow_lines", AGREE)
def a_journal_without_line_1(rows):
    del rows["node_journal_line"][0]
    _lines_were_reduced(rows)


@planted(journal, "journals_start_once")
def a_journal_of_two_profiles(rows):
    line = rows["node_journal_line"][-1]
    raw = "{line_number}@{author_fp}/{resource_id}".format(**line).encode()
    line |= {"profile": "0.12", "line_hash": line_hash(raw, "0.12")}
    rows["namespace_state"] = []


@planted(journal, "line_hashes_recompute", AGREE)
def a_line_with_another_hash(rows):
    rows["node_journal_line"][-1]["line_hash"] = "0" * 64


@planted(journal, "line_hashes_recompute", AGREE)
def a_line_with_another_id(rows):
    rows["node_journal_line"][-1]["record_id"] = OTHER


@planted(journal, "lines_follow_lines")
def a_line_one_too_far(rows):
    rows["node_journal_line"][-1]["n"] += 1
    rows["namespace_state"] = []


@planted(journal, AGREE, "state_hashes_recompute")
def a_journal_with_another_number_of_leaves(rows):
    rows["node_journal"][0]["leaves"].append((1, OTHER))


@planted(journal, AGREE)
def a_journal_with_another_tip(rows):
    rows["node_journal"][0]["tip_hash"] = "0" * 64


@planted(journal, AGREE)
def a_journal_without_its_row(rows):
    rows["node_journal"] = []


@planted(journal, "own_journals_repeat_nothing")
def an_own_journal_that_repeats_a_pair(rows):
    first, second = rows["node_journal_line"][2:4]
    pair = {name: first[name] for name in ("author_fp", "resource_id")}
    first["origin"] = second["origin"] = "announced"
    second |= pair
    _recomputed(rows, 3)


@planted(journal, "own_journals_repeat_nothing")
def an_own_journal_that_repeats_a_number(rows):
    line = rows["node_journal_line"][-1]
    line["origin"] = "synced"
    rows["node_journal_line"].append(line | {"resource_id": "0" * 64})
    _recomputed(rows, 5)
    rows["namespace_state"] = []


@planted(journal, "state_hashes_recompute")
def a_journal_with_another_state_hash(rows):
    rows["namespace_state"][0]["state_hash"] = OTHER


# Quarantine.


@planted(waiting_journal, "quarantine_is_well_formed")
def a_row_of_quarantine_with_another_id(rows):
    rows["quarantine"][0]["quarantine_id"] = OTHER


@planted(waiting_journal, "quarantine_is_well_formed")
def a_row_of_quarantine_with_another_record_id(rows):
    rows["quarantine"][0]["record_id"] = OTHER


@planted(waiting_journal, "quarantine_is_well_formed")
def a_row_of_quarantine_with_another_digest(rows):
    rows["quarantine"][0]["raw_sha256"] = OTHER


@planted(waiting_journal, "quarantine_is_well_formed", "constraints_hold")
def a_row_of_quarantine_without_reasons(rows):
    row = rows["quarantine"][0]
    row["reasons"] = []
    row |= _kept(row, row["raw"])


@planted(waiting_journal, "quarantine_is_well_formed")
def a_row_of_quarantine_whose_reasons_descend(rows):
    row = rows["quarantine"][0]
    row["reasons"] = ["TYPE_INVALID", "BOMB"]
    row |= _kept(row, row["raw"])


@planted(waiting_journal, "quarantine_is_well_formed")
def a_row_of_quarantine_that_waits_for_nothing_known(rows):
    [waiting] = [row for row in rows["quarantine"] if row["status"] == "deferred"]
    waiting["waits_for"] = ["wonders:1"]


@planted(waiting_journal, "quarantine_is_well_formed")
def a_row_of_quarantine_seen_once_by_two_runs(rows):
    rows["quarantine"][0]["last_run"] = "another"


# Logs.


@planted(log, "accepted_entries_do_not_wait")
def an_accepted_entry_that_waits(rows):
    row = rows["ipfs_log_entry"][0]
    held = {
        "namespace": row["namespace"], "bucket": row["bucket"], "dialect": "ipfslog", "status": "deferred",
        "reasons": ["IDENTITY_MISSING"], "waits_for": ["identity:1"],
    }  # fmt: skip
    [pattern, _] = waiting_journal(0)["quarantine"]
    rows["quarantine"] = [pattern | held | _kept(held, row["block"])]


@planted(log, "log_entries_recompute", LOGS_AGREE)
def an_entry_with_another_id(rows):
    rows["ipfs_log_entry"][0]["record_id"] = sha256(b"another").digest()


@planted(manifests, "log_entries_recompute")
def a_manifest_with_another_id(rows):
    rows["ipfs_log_manifest"][0]["record_id"] = sha256(b"another manifest").digest()


@planted(log, "log_entries_recompute")
def an_entry_of_an_identity_that_is_not_held(rows):
    rows["ipfs_log_entry"][0]["identity_digest"] = OTHER


@planted(log, "log_entries_recompute")
def an_entry_that_another_identity_signed(rows):
    other = Identity.from_keys(secret("planted", "id"), secret("planted", "sign"), TYPES["v2"])
    rows["ipfs_log_identity"] = [identity_row(other)]
    rows["ipfs_log_entry"][0]["identity_digest"] = other.record.digest


@planted(log, "log_entries_recompute")
def an_entry_with_the_clock_of_another_key(rows):
    rows["ipfs_log_entry"][0]["clock_id"] = "00"


@planted(log, LOGS_AGREE)
def a_log_without_a_head(rows):
    del rows["ipfs_log_head"][-1]


@planted(log, LOGS_AGREE)
def a_log_with_a_gap_in_its_places(rows):
    rows["ipfs_log_view"][-1]["position"] += 1


@planted(log, LOGS_AGREE, "constraints_hold")
def a_log_that_misses_nothing(rows):
    for row in rows["ipfs_log_tail"]:
        row["missing"] = []


@planted(listed_log, LOGS_AGREE)
def a_log_in_which_nobody_is_on_the_list(rows):
    rows["ipfs_log_manifest"][0]["write"] = ["nobody"]


@planted(listed_log, LOGS_AGREE)
def a_log_with_a_place_for_an_entry_of_a_denied_writer(rows):
    before, denied = rows["ipfs_log_view"][-1], rows["ipfs_log_entry"][-1]
    of_entry = {name: denied[name] for name in ("record_id", "clock_time", "clock_id")}
    rows["ipfs_log_view"].append(before | of_entry | {"position": before["position"] + 1})


@planted(log, "logs_are_in_order")
def a_log_in_another_order(rows):
    first, second, _ = rows["ipfs_log_view"]
    first["position"], second["position"] = second["position"], first["position"]


@planted(log, "logs_are_in_order")
def a_log_whose_places_are_not_marked_tied(rows):
    rows["ipfs_log_view"][-1]["tied"] = False


@planted(log, "logs_are_in_order")
def a_log_of_two_modes(rows):
    rows["ipfs_log_view"][-1]["mode"] = "walk"
    rows["ipfs_log_view"][-2]["tied"] = False


@planted(log, "records_are_held")
def a_log_that_lost_an_entry(rows):
    del rows["ipfs_log_entry"][0]


@planted(pruned_log, "records_are_held")
def a_log_that_lost_an_entry_beside_a_pruned_one(rows):
    rows["ipfs_log_entry"].pop()


@planted(pruned_log, "pruned_records_are_told")
def a_pruned_entry_without_its_snapshot(rows):
    rows["snapshot"] = []


@planted(pruned_log, "pruned_records_are_told")
def a_pruned_entry_without_its_skeleton(rows):
    rows["pruned_record"][0]["skeleton"] = None


@planted(pruned_log, "pruned_records_are_told")
def a_pruned_entry_without_its_place(rows):
    del rows["ipfs_log_view"][0]


@planted(pruned_log, "snapshots_list_what_can_go")
def a_snapshot_that_does_not_list_what_can_go(rows):
    rows["snapshot_member"] = [row for row in rows["snapshot_member"] if not row["prune"]]


@planted(pruned_log, "collections_agree_with_pruned_records")
def a_collection_that_pruned_more_than_is_listed(rows):
    rows["gc_run"][0]["pruned"] += 1


@planted(pruned_log, "constraints_hold")
def a_collection_without_a_proof(rows):
    rows["gc_run"][0]["after_hash"] = None


# Checkpoints.


@planted(covered_log, "checkpointed_records_are_held", "records_are_held")
def a_leaf_without_its_entry(rows):
    rows["ipfs_log_entry"].pop()


@planted(covered_log, "checkpoints_have_their_leaves")
def a_checkpoint_that_lacks_a_leaf(rows):
    del rows["checkpoint_leaf"][1]


@planted(covered_log, "checkpoints_have_their_leaves")
def a_checkpoint_without_leaves(rows):
    del rows["checkpoint_leaf"][:2]


@planted(covered_log, "checkpoints_have_their_leaves")
def a_checkpoint_with_a_gap(rows):
    rows["checkpoint_leaf"][3]["position"] = 4


@planted(covered_log, "checkpoints_have_their_leaves", "keys_are_unique")
def a_checkpoint_with_two_leaves_at_one_place(rows):
    rows["checkpoint_leaf"][3]["position"] = 2


@planted(covered_log, "checkpoints_follow_checkpoints")
def a_checkpoint_after_another_root(rows):
    rows["checkpoint"][1]["prev_root"] = OTHER


@planted(covered_log, "checkpoints_follow_checkpoints")
def a_first_checkpoint_after_another_one(rows):
    rows["checkpoint"][0]["prev_root"] = OTHER


@planted(covered_log, "checkpoints_follow_checkpoints")
def a_checkpoint_whose_predecessor_is_missing(rows):
    del rows["checkpoint"][0]


@planted(covered_log, "constraints_hold")
def a_checkpoint_with_a_note_of_nobody(rows):
    rows["checkpoint"][0]["note"] = "signed"


# Runs.


@planted(runs, "runs_lose_nothing")
def an_ingest_that_lost_a_record(rows):
    _count(rows["run"][0], read=11)


@planted(runs, "runs_lose_nothing")
def an_ingest_that_does_not_say_what_it_read(rows):
    rows["run"][0]["counts"] = {}


@planted(runs, "runs_lose_nothing")
def an_ingest_with_a_negative_count(rows):
    _count(rows["run"][0], known=8, rejected=-3)


@planted(runs, "runs_lose_nothing")
def a_stream_that_lost_a_record(rows):
    _count(rows["run"][1], deferred=0)


@planted(runs, "runs_lose_nothing")
def a_sync_that_lost_a_record(rows):
    _count(rows["run"][2], new=3)


@planted(runs, "runs_lose_nothing")
def a_sync_that_read_less_than_was_missing(rows):
    _count(rows["run"][2], missing=13)


@planted(runs, "runs_lose_nothing")
def a_sync_with_a_fault_that_lost_a_record(rows):
    _count(rows["run"][4], deferred=9)


@planted(runs, "runs_lose_nothing")
def a_run_with_a_fault_that_lost_a_record(rows):
    _count(rows["run"][3], known=2)


def _count(row: dict, **changed: int) -> None:
    row["counts"] = row["counts"] | changed


def _kept(row: dict, raw: bytes) -> dict:
    """The columns of a row of quarantine that follow from its bytes."""
    digest, id_ = (
        sha256(raw).digest(),
        quarantine_id(row["dialect"], row["namespace"], row["status"], row["reasons"], raw),
    )
    return {
        "quarantine_id": id_,
        "raw": raw,
        "raw_bytes": len(raw),
        "raw_sha256": digest,
        "record_id": digest,
    }


def _lines_were_reduced(rows: Rows) -> None:
    """Make the state one of as many lines as there are."""
    rows["namespace_state"][0]["record_count"] = len(rows["node_journal_line"])


def _recomputed(rows: Rows, first: int) -> None:
    """Make lines from `first` on follow the lines before them again, and forget what they were reduced to."""
    lines = rows["node_journal_line"]
    before = lines[min(first, 4) - 1]
    for line in lines[first:]:
        if line["n"] == before["n"] + 1:
            line["line_number"] = before["line_hash"]
        raw = "{line_number}@{author_fp}/{resource_id}".format(**line).encode()
        line["record_id"] = sha256(raw).digest()
        line["line_hash"] = line["record_id"].hex()
        before = line
    rows["namespace_state"], rows["node_journal"] = [], []


__all__ = ["CASES"]


# Device logs.


@planted(devices)
def nothing_in_device_logs(rows):
    pass


@planted(devices, "accepted_device_log_entries_do_not_wait")
def an_accepted_device_log_entry_that_waits(rows):
    [waiting], entry = rows["quarantine"], rows["device_log_entry"][2]
    waiting["record_id"] = entry["record_id"]


@planted(devices, "device_log_entries_recompute")
def an_entry_of_another_clock(rows):
    rows["device_log_entry"][2]["lamport"] += 1


@planted(devices, "device_log_entries_recompute")
def an_entry_of_another_body(rows):
    rows["device_log_entry"][2]["body"] = b"hallo"


@planted(devices, "device_log_entries_recompute")
def a_message_of_another_text(rows):
    message = rows["device_log_entry"][-1]
    message["raw"] = message["raw"].replace(b"post", b"most")


@planted(devices, "device_log_entries_recompute")
def an_entry_after_one_that_is_not_held(rows):
    rows["device_log_entry"] = [
        row for row in rows["device_log_entry"] if row["seq"] != 1 or row["profile"] == "ssb"
    ]


@planted(devices, "equivocations_are_well_formed")
def a_fork_of_another_entry(rows):
    [fork] = rows["equivocation"]
    fork["bytes_a"] = fork["bytes_b"]


@planted(devices, "equivocations_are_well_formed")
def a_fork_of_a_log_that_nobody_signed(rows):
    [fork] = rows["equivocation"]
    fork["attributable"] = False


# Authorities.


@planted(authority, "accepted_facts_do_not_wait")
def an_accepted_fact_that_waits(rows):
    [waiting], fact = rows["quarantine"], rows["aura_fact"][3]
    waiting |= _kept(waiting, fact["fact_cbor"]) | {"record_id": fact["record_id"]}


@planted(authority, "facts_recompute")
def a_fact_of_other_bytes(rows):
    rows["aura_fact"][3]["fact_cbor"] += b"\x00"


@planted(authority, "facts_recompute", "authorities_agree_with_facts")
def an_operation_on_a_state_that_nothing_made(rows):
    [first] = [row for row in rows["aura_fact"] if row["variant"] == "Genesis"]
    [child, *_] = [row for row in rows["aura_fact"] if row["parent_commitment"] == first["new_commitment"]]
    child["parent_commitment"] = OTHER


@planted(authority, "facts_recompute")
def an_attestation_of_a_state_that_nothing_made(rows):
    rows["aura_fact"][3]["attest"] = [
        {"authority": "00000000-0000-0000-0000-000000000000", "commitment": OTHER, "sig": OTHER * 2}
    ]


@planted(authority, "authorities_agree_with_facts")
def an_authority_with_another_state(rows):
    rows["authority_state"][0]["state_cbor"] += b"\x00"


@planted(authority, "authorities_agree_with_facts")
def an_authority_whose_hash_is_not_that_of_its_state(rows):
    rows["namespace_state"][0]["state_hash"] = OTHER


@planted(authority, "authorities_agree_with_facts")
def an_authority_with_another_tip(rows):
    rows["authority_state"][0]["commitment"] = OTHER


@planted(authority, "authorities_agree_with_facts")
def an_operation_with_another_outcome(rows):
    tip = rows["authority_state"][0]["commitment"]
    [row] = [each for each in rows["attested_op"] if each["new_commitment"] == tip]
    row |= {"outcome": "superseded", "lost_to": OTHER}


@planted(authority, "authorities_agree_with_facts")
def a_leaf_too_many(rows):
    first = rows["authority_leaf"][0]
    rows["authority_leaf"].append(first | {"leaf_id": 4_000, "position": 99})


@planted(authority, "authorities_agree_with_facts")
def an_operation_that_no_fact_carries(rows):
    rows["attested_op"][0]["fact_id"] = OTHER


@planted(authority, "authorities_agree_with_facts")
def a_stored_commitment_that_somebody_changed(rows):
    parents = {row["parent_commitment"] for row in rows["aura_fact"]}
    [*_, last] = [row for row in rows["aura_fact"] if row["op_id"] and row["new_commitment"] not in parents]
    last["new_commitment"] = OTHER


@planted(authority, "authorities_agree_with_facts")
def a_group_key_that_somebody_changed(rows):
    first = next(row for row in rows["aura_fact"] if row["op_id"])
    first["group_key"] = OTHER


# Contexts.

CONTEXTS_AGREE = "contexts_agree_with_facts"


@planted(context, CONTEXTS_AGREE)
def a_context_without_a_state(rows):
    rows["namespace_state"] = [row for row in rows["namespace_state"] if row["namespace"].startswith("a")]


@planted(context, CONTEXTS_AGREE)
def a_binding_whose_hash_is_not_that_of_its_row(rows):
    [first, *_] = [row for row in rows["relational_binding"] if row["account_id"] is not None]
    first["row_hash"] = OTHER


@planted(context, CONTEXTS_AGREE)
def a_binding_of_a_body_that_nobody_sent(rows):
    rows["relational_binding"][0]["body_id"] = OTHER


@planted(context, CONTEXTS_AGREE)
def a_checkpoint_that_nobody_sent(rows):
    [first, *_] = [row for row in rows["channel_epoch"] if row["checkpoint_body"] is not None]
    first["checkpoint_body"] = OTHER


@planted(context, CONTEXTS_AGREE)
def a_budget_that_lost_a_charge(rows):
    [first, *_] = [row for row in rows["flow_budget"] if row["charges"] > 1]
    first["charges"] -= 1


@planted(context, CONTEXTS_AGREE)
def a_budget_that_nobody_charged(rows):
    [first, *_] = [row for row in rows["flow_budget"] if row["charges"]]
    rows["flow_budget"].append(first | {"epoch": Decimal(77)})


@planted(context, CONTEXTS_AGREE)
def a_capability_of_refinements_that_nobody_sent(rows):
    rows["capability"][0]["refinements"] = 1_000


@planted(context, "records_are_held")
def a_context_that_lost_a_charge(rows):
    [first, *_] = [row for row in rows["aura_fact"] if row["variant"] == "FlowCharge"]
    rows["aura_fact"].remove(first)


@planted(authority, "equivocations_are_well_formed")
def a_fork_whose_bytes_are_not_those_of_its_members(rows):
    rows["equivocation"][0]["bytes_a"] += b"\x00"


@planted(authority, "equivocations_are_well_formed")
def a_fork_that_nobody_made(rows):
    rows["equivocation"][0]["attributable"] = False


planted(met_devices)(sound)
DEVICES_AGREE = "device_logs_agree_with_entries"
UNPLACED = {"final": False, "position": None, "previous": None, "prefix_hash": None}


@planted(met_devices, DEVICES_AGREE)
def a_message_without_a_place(rows):
    rows["device_log_view"].pop()


@planted(met_devices, DEVICES_AGREE)
def a_place_of_no_message(rows):
    rows["device_log_view"].append(
        rows["device_log_view"][0] | {"record_id": OTHER, "status": "removed"} | UNPLACED
    )


@planted(met_devices, DEVICES_AGREE)
def a_view_with_another_hash(rows):
    rows["device_log_view"][3]["prefix_hash"] = OTHER


@planted(met_devices, DEVICES_AGREE)
def two_messages_that_changed_places(rows):
    one, other = rows["device_log_view"][3:5]
    one["lamport"], other["lamport"] = other["lamport"] + 1, one["lamport"]


@planted(met_devices, DEVICES_AGREE)
def a_screw_without_a_verdict(rows):
    rows["device_log_screw"].pop()


@planted(met_devices, DEVICES_AGREE)
def a_group_that_lost_all_entries(rows):
    rows["device_log_entry"] = []


@planted(journal, AGREE)
def a_journal_that_lost_its_last_line(rows):
    rows["node_journal_line"].pop()


@planted(journal, AGREE)
def a_journal_that_lost_all_lines(rows):
    rows["node_journal_line"] = []
