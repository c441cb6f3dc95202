"""Progress: one line every so often off a terminal, nothing but text in it."""

import io
import re
import time

import pytest
from rich.console import Console

from strandline.cli.progress import ShownProgress


def test_off_a_terminal_a_line_comes_every_so_often_with_stage_records_and_time() -> None:
    out = io.StringIO()
    with ShownProgress(Console(file=out, soft_wrap=True), 0.01) as shown:
        shown.stage("reading\x1b[2J", lambda: 1234)
        shown.note("a note\r")
        deadline = time.monotonic() + 5
        while "records" not in out.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    text = out.getvalue()
    assert "reading\\x1b[2J, 1,234 records, " in text
    assert "a note\\x0d\n" in text
    assert "\x1b" not in text


@pytest.mark.large
def test_a_line_off_a_terminal_and_the_live_one_have_stage_records_rate_and_time_but_no_step() -> None:
    for terminal in (False, True):
        out = io.StringIO()
        with ShownProgress(
            Console(file=out, width=80, force_terminal=terminal, no_color=True), 0.01
        ) as shown:
            shown.stage("reading and verifying", lambda: 1234)
            shown.step("segments")
            deadline = time.monotonic() + 5
            while "/s" not in out.getvalue() and time.monotonic() < deadline:
                time.sleep(0.01)
        assert re.search(r"reading and verifying, 1,234 records, [0-9,]+/s, [0-9]+ s", out.getvalue())
        assert "segments" not in out.getvalue()


def test_a_command_that_ends_soon_says_nothing() -> None:
    out = io.StringIO()
    with ShownProgress(Console(file=out), 30) as shown:
        shown.stage("reading")
    assert out.getvalue() == ""


@pytest.mark.large
def test_on_a_terminal_the_live_line_is_taken_away() -> None:
    out = io.StringIO()
    with ShownProgress(Console(file=out, force_terminal=True, no_color=True), 30) as shown:
        shown.stage("reading")
        deadline = time.monotonic() + 5
        while "reading" not in out.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "reading" in out.getvalue()
    assert out.getvalue().endswith("\x1b[2K")
