"""What a new lake is made with: the choices of dialects, the number of buckets, deletion vectors where they may be."""

from datetime import UTC, datetime

import pytest

from strandline.contracts import load
from strandline.contracts.ddl import DELETION_VECTORS_PROPERTY, table_properties
from strandline.core.errors import UsageError
from strandline.dialects import every
from strandline.pipelines.init import InitOptions, _completed, check_agrees, design
from strandline.pipelines.run_context import NoProgress, RunContext
from strandline.tables.lake import LakeState
from strandline.tables.location import Location

READING = "strandline.sdmp.reading"


def made_with(options: InitOptions) -> dict[str, dict[str, str]]:
    """The properties of each table of a new lake."""
    made = design(options, every())
    return {
        each.table: dict(
            table_properties(each, buckets=made.buckets, properties=made.properties.get(each.table, {}))
        )
        for each in load.contracts()
    }


def test_no_table_has_deletion_vectors_unless_the_setting_gives_them_to_reduced_ones() -> None:
    def having(options: InitOptions) -> set[str]:
        return {
            table
            for table, properties in made_with(options).items()
            if properties[DELETION_VECTORS_PROPERTY] == "true"
        }

    reduced = {each.table for each in load.contracts() if each.written_by == ("reduce",)}
    assert having(InitOptions()) == set()
    assert having(InitOptions(deletion_vectors=True)) == reduced
    assert reduced >= {"node_journal", "namespace_state"}


def test_the_choice_of_a_dialect_and_deletion_vectors_do_not_hide_each_other() -> None:
    strict = made_with(InitOptions(dialect_options={"strict": "strict"}, deletion_vectors=True))
    assert strict["node_journal_line"][READING] == "strict"
    assert strict["node_journal_line"][DELETION_VECTORS_PROPERTY] == "false"
    assert made_with(InitOptions())["node_journal_line"][READING] == "weak"


def test_each_choice_of_a_dialect_is_a_property_of_its_table_and_only_what_it_can_be() -> None:
    profile = "strandline.ipfslog.profile"
    assert made_with(InitOptions())["ipfs_log_entry"][profile] == "strict"
    compat = made_with(InitOptions(dialect_options={"ipfslog-profile": "compat"}))
    assert compat["ipfs_log_entry"][profile] == "compat"
    assert compat["node_journal_line"][READING] == "weak"
    with pytest.raises(UsageError, match="--ipfslog-profile cannot be lenient") as refused:
        made_with(InitOptions(dialect_options={"ipfslog-profile": "lenient"}))
    assert (refused.value.code, "strict, compat" in refused.value.next) == ("OPTION_INVALID", True)


NETWORK_KEY = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="


def test_the_choices_of_device_logs_are_properties_and_a_network_key_has_its_form() -> None:
    chosen = {"ssb-profile": "weak", "ssb-hmac-key": NETWORK_KEY, "fork-policy": "freeze"}
    usual, made = (made_with(InitOptions(dialect_options=each))["device_log_entry"] for each in ({}, chosen))
    names = [f"strandline.devicelog.{name}" for name in ("ssb_profile", "ssb_hmac_key", "fork_policy")]
    assert [usual[name] for name in names] == ["strict", "", "keep-both"]
    assert [made[name] for name in names] == ["weak", NETWORK_KEY, "freeze"]


@pytest.mark.parametrize(
    "key", [NETWORK_KEY[:-1], "AAAA", "x" * 44, "Bw" * 21 + "B=", NETWORK_KEY + "\n", "B" * 43 + "="]
)
def test_another_network_key_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(UsageError, match="--ssb-hmac-key does not have the form of KEY") as refused:
        made_with(InitOptions(dialect_options={"ssb-hmac-key": key}))
    assert (refused.value.code, refused.value.exit_code) == ("OPTION_INVALID", 2)
    assert key not in refused.value.message + refused.value.next
    with pytest.raises(UsageError, match="fork-policy cannot be both"):
        made_with(InitOptions(dialect_options={"fork-policy": "both"}))


def test_what_is_asked_for_wins_over_the_default_number_of_buckets() -> None:
    assert design(InitOptions(default_buckets=4), every()).buckets == 4
    assert design(InitOptions(buckets=8, default_buckets=4), every()).buckets == 8


STRICT = InitOptions(buckets=16, dialect_options={"strict": "strict", "ipfslog-profile": "compat"})
AGREED = (InitOptions(), STRICT, InitOptions(buckets=16), InitOptions(default_buckets=4))
CONTRADICTING = {
    "16 buckets, which contradicts --buckets 4": InitOptions(buckets=4),
    f"{READING} = strict, which contradicts --strict": InitOptions(dialect_options={"strict": "weak"}),
    "strandline.devicelog.fork_policy = keep-both, which contradicts --fork-policy": InitOptions(
        dialect_options={"fork-policy": "freeze"}
    ),
    "strandline.ipfslog.profile = compat, which contradicts --ipfslog-profile": InitOptions(
        buckets=16, dialect_options={"ipfslog-profile": "strict"}
    ),
}


def state_of(options: InitOptions) -> LakeState:
    """What is found of a lake that was made with these options."""
    made = made_with(options)
    return LakeState(made, (), is_empty=False)


class Notes(NoProgress):
    """Progress that keeps the notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_a_table_that_is_missing_is_made_with_what_is_given_again_or_a_note_says_what_it_gets() -> None:
    made = {table: stated for table, stated in made_with(STRICT).items() if table != "node_journal_line"}
    state, told = LakeState(made, (), is_empty=False), Notes()
    context = RunContext("r", "init", "1", datetime.now(UTC), progress=told)
    check_agrees(Location.lake("lake"), state, STRICT, every())
    assert _completed(state, STRICT, context).properties["node_journal_line"] == {READING: "strict"}
    assert told.notes == []
    completed = _completed(state, InitOptions(), context)
    assert completed.properties["node_journal_line"] == {READING: "weak"}
    assert completed.properties["ipfs_log_entry"]["strandline.ipfslog.profile"] == "compat"
    assert completed.buckets == 16
    [note] = told.notes
    assert f"{READING} = weak" in note
    assert "--strict" in note


@pytest.mark.parametrize("options", AGREED)
def test_a_lake_is_no_other_for_what_it_was_made_with_or_what_is_left_out(options: InitOptions) -> None:
    check_agrees(Location.lake("lake"), state_of(STRICT), options, every())


@pytest.mark.parametrize("said", CONTRADICTING)
def test_what_a_lake_was_made_with_is_not_overruled(said: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_agrees(Location.lake("lake"), state_of(STRICT), CONTRADICTING[said], every())
    assert (refused.value.code, refused.value.exit_code) == ("LAKE_CONTRADICTS", 2)
    assert refused.value.message.endswith(f"was created with {said}.")
