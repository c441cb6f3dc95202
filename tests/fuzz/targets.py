"""What is fuzzed: for each target a check that any bytes must pass.

Nothing is raised but what a docstring names, verdicts are total, what is read is written the same again, and no working
memory is more than a document may take.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzz import corpora, devices, facts, files, values


@dataclass(frozen=True)
class Target:
    """The inputs to begin with, and a check that raises an error where a property does not hold."""

    corpus: Callable[[], Sequence[bytes]]
    check: Callable[[bytes], None]


TARGETS: dict[str, Target] = {
    "strict_json": Target(corpora.json_texts, values.strict_json_reads_what_json_reads),
    "strict_cbor": Target(corpora.blocks, values.cbor_is_written_as_it_was_read),
    "dag_pb": Target(corpora.blocks, values.dag_pb_is_written_as_it_was_read),
    "bases": Target(corpora.addresses, values.bases_are_written_as_they_were_read),
    "cids": Target(corpora.addresses, values.addresses_have_one_text),
    "slices": Target(corpora.json_texts, values.slices_lie_in_their_document),
    "entries": Target(corpora.blocks, values.blocks_get_a_verdict),
    "identities": Target(corpora.blocks, values.identities_get_a_verdict),
    "skeletons": Target(corpora.blocks, values.skeletons_are_read_or_refused),
    "stored": Target(corpora.stored, values.stored_blocks_become_sections),
    "documents": Target(corpora.log_files, files.documents_are_judged),
    "car": Target(corpora.log_files, files.cars_are_read_alike_in_a_window),
    "log_files": Target(corpora.log_files, files.log_files_become_pieces),
    "frames": Target(corpora.journal_files, files.frames_are_written_as_they_were_read),
    "journals": Target(corpora.journal_files, files.journals_are_judged),
    "journal_files": Target(corpora.journal_files, files.journal_files_become_pieces),
    "requests": Target(corpora.request_files, files.requests_are_written_as_they_were_read),
    "manifests": Target(corpora.manifests, files.manifests_are_read_or_refused),
    "containers": Target(corpora.compressed, files.containers_open_or_are_damaged),
    "lines": Target(corpora.journal_files, files.lines_do_not_depend_on_blocks),
    "nodes": Target(corpora.operator_files, files.nodes_are_read_or_refused),
    "log_config": Target(corpora.operator_files, files.log_configurations_are_read_or_refused),
    "settings": Target(corpora.settings_files, files.settings_are_read_or_refused),
    "facts": Target(corpora.facts, facts.facts_are_written_as_they_were_read),
    "fact_files": Target(corpora.fact_files, facts.files_of_facts_are_read),
    "admission": Target(corpora.fact_files, facts.facts_are_admitted_and_reduced),
    "fork_evidence": Target(corpora.fork_files, facts.only_genuine_evidence_proves_a_fork),
    "states": Target(corpora.states, facts.states_are_read_or_refused),
    "cbor_items": Target(corpora.facts, facts.items_end_where_their_value_does),
    "device_files": Target(corpora.device_files, devices.device_files_are_read),
    "device_admission": Target(corpora.device_files, devices.entries_are_admitted),
    "device_bodies": Target(corpora.device_bodies, devices.bodies_are_written_as_they_were_read),
    "javascript": Target(corpora.json_texts, devices.javascript_texts_are_stable),
    "replay_devices": Target(corpora.device_files, devices.rejected_entries_are_judged_again),
    "replay_logs": Target(corpora.log_files, files.rejected_documents_are_judged_again),
    "replay_journals": Target(corpora.journal_files, files.rejected_frames_are_judged_again),
}
