"""SIGINT, SIGTERM and SIGHUP: one sentence and the exit code that shells expect; deferred, a command is asked first."""

import json
import os
import signal
import subprocess
import sys

import pytest

from strandline.cli import main
from strandline.cli.interrupts import SIGNALS, Interrupted, Interrupts
from strandline.pipelines import explain
from strandline.pipelines.report import Report
from support.delta_rs_lake import empty_lake

SENTENCE = "The command was interrupted; run it again: nothing is lost or duplicated.\n"
# A command that takes long, and what fails on the way out since its JVM is gone.
LONG = """
import logging, sys, time
from strandline.cli import main
from strandline.cli.interrupts import interrupts
from strandline.pipelines import explain, status

def long(*_):
    interrupts.session_started(lambda: print("session ended", file=sys.stderr))
    print("begun", file=sys.stderr, flush=True)
    try:
        time.sleep(30)
    finally:
        logging.exception("Exception while sending command.")
        raise OSError("no answer")

explain.run = status.run = long
sys.exit(main(sys.argv[1:]))
"""

# A signal that arrives once, when a command has printed its report and tells others.
WHILE_OTHERS_ARE_TOLD = """
import os, signal, sys
from strandline.cli import lineage, main, metrics

place, name = sys.argv.pop(1).split(".")
told = {"metrics": metrics, "lineage": lineage.Lineage}[place]
real = getattr(told, name)

def interrupted(*given):
    setattr(told, name, real)
    os.kill(os.getpid(), signal.SIGTERM)
    return real(*given)

setattr(told, name, interrupted)
sys.exit(main(sys.argv[1:]))
"""

# A signal that arrives when half of a report is printed.
WHILE_IT_IS_PRINTED = """
import os, signal, sys
from strandline.cli import main
from strandline.pipelines.report import Report

real = Report.json_parts

def interrupted(report):
    text = "".join(real(report))
    yield text[:40]
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGTERM)
    yield text[40:]

Report.json_parts = interrupted
sys.exit(main(sys.argv[1:]))
"""

# A command whose driver waits in py4j for an answer that does not come, and calls again on the way out.
WAITING = """
import os, signal, socket, sys, threading
from py4j.clientserver import ClientServer, JavaParameters, PythonParameters
from strandline.cli import main
from strandline.cli.interrupts import interrupts
from strandline.pipelines import explain

jvm, connections = socket.create_server(("127.0.0.1", 0)), []

def serve():
    while True:
        try:
            connections.append(jvm.accept()[0])
        except OSError:
            return

def end():
    jvm.shutdown(socket.SHUT_RDWR)
    for each in connections:
        each.close()

def wait(*_):
    place = JavaParameters(port=jvm.getsockname()[1])
    gateway = ClientServer(place, PythonParameters(port=0, eager_load=False))
    interrupts.session_started(end)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        gateway.entry_point.collect()
    finally:
        gateway.entry_point.unpersist()

threading.Thread(target=serve, daemon=True).start()
explain.run = wait
sys.exit(main(["explain", "BOMB"]))
"""


@pytest.mark.large
def test_a_call_that_waits_in_py4j_is_ended_and_what_fails_behind_it_logs_no_traceback():
    done = subprocess.run(
        [sys.executable, "-c", WAITING], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", SENTENCE)


def test_an_interrupt_that_python_raises_itself_ends_the_command_in_the_same_way(capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(explain, "run", interrupted)
    assert main(["explain", "BOMB"]) == 130
    assert capsys.readouterr().err == SENTENCE


@pytest.mark.parametrize("has_begun", [False, True])
def test_an_interrupt_is_told_in_a_report_and_behind_half_of_one_in_a_sentence(
    capsys, monkeypatch, has_begun
):
    def interrupted(*_):
        raise Interrupted(signal.SIGTERM)

    def cut(_):
        yield '{"command":'
        interrupted()

    monkeypatch.setattr(*((Report, "json_parts", cut) if has_begun else (explain, "run", interrupted)))
    assert main(["explain", "BOMB", "--json"]) == 143
    told = capsys.readouterr()
    if has_begun:
        assert (told.out, told.err) == ('{"command":', SENTENCE)
    else:
        assert (json.loads(told.out)["error"]["code"], told.err) == ("INTERRUPTED", "")


@pytest.mark.large
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("words", [(), ("--json",)], ids=["for people", "as JSON"])
def test_a_signal_ends_session_and_command_with_one_sentence(number, words):
    process = subprocess.Popen(
        [sys.executable, "-c", LONG, "explain", "BOMB", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr.readline() == "begun\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert err == "session ended\n" + ("" if words else SENTENCE)
    assert [json.loads(line)["error"]["code"] for line in out.splitlines()] == ["INTERRUPTED"] * len(words)


@pytest.mark.large
@pytest.mark.parametrize("told", ["lineage.ended", "metrics.write_metrics"])
@pytest.mark.parametrize("there", [True, False], ids=["after a result", "after an error"])
def test_a_signal_while_others_are_told_changes_the_exit_code_and_prints_no_second_report(
    tmp_path, told, there
):
    lake, path = tmp_path / "lake", tmp_path / "m.prom"
    if there:
        empty_lake(lake)
    words = ["status", "--lake", str(lake), "--json", "--metrics", str(path)]
    done = subprocess.run(
        [sys.executable, "-c", WHILE_OTHERS_ARE_TOLD, told, *words],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (143, "")
    assert [json.loads(line)["exit"] for line in done.stdout.splitlines()] == [0 if there else 2]
    written = [line for line in path.read_text().splitlines() if line.startswith("strandline_run_exit_code{")]
    assert [line.rpartition(" ")[2] for line in written] == ["143.0"]
    assert sorted(each.name for each in tmp_path.iterdir()) == (["lake", "m.prom"] if there else ["m.prom"])


@pytest.mark.large
@pytest.mark.parametrize("there", [True, False], ids=["a result", "an error"])
def test_a_signal_while_a_report_is_printed_prints_no_second_one(tmp_path, there):
    lake, path = tmp_path / "lake", tmp_path / "m.prom"
    if there:
        empty_lake(lake)
    words = ["status", "--lake", str(lake), "--json", "--metrics", str(path)]
    done = subprocess.run(
        [sys.executable, "-c", WHILE_IT_IS_PRINTED, *words],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (143, SENTENCE if there else "")
    assert len(done.stdout) == (40 if there else 0)
    written = [line for line in path.read_text().splitlines() if line.startswith("strandline_run_exit_code{")]
    assert [line.rpartition(" ")[2] for line in written] == ["143.0"]


def send(number: int) -> None:
    os.kill(os.getpid(), number)


def test_a_deferred_signal_asks_first_and_ends_the_command_the_second_time():
    watching, ended = Interrupts(), []
    with watching.watched():
        watching.session_started(lambda: ended.append("session"))
        with watching.deferred() as is_asked:
            assert not is_asked()
            send(signal.SIGINT)
            assert (is_asked(), ended) == (True, [])
            with pytest.raises(Interrupted) as interrupted:
                send(signal.SIGINT)
    assert (interrupted.value.exit_code, ended) == (130, ["session"])


def test_an_interrupt_behind_a_deferring_block_ends_the_command_at_once():
    watching = Interrupts()
    with watching.watched():
        with watching.deferred():
            pass
        with pytest.raises(Interrupted):
            send(signal.SIGINT)


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_the_process_at_once_with_the_exit_code_of_the_first(monkeypatch, second):
    class Gone(BaseException):
        pass

    def gone(code):
        raise Gone(code)

    monkeypatch.setattr(os, "_exit", gone)
    watching, ended = Interrupts(), []
    with watching.watched():
        watching.session_started(lambda: ended.append("session"))
        with pytest.raises(Interrupted):
            send(signal.SIGTERM)
        with pytest.raises(Gone) as code:
            send(second)
    assert (code.value.args, ended) == ((143,), ["session"])


def test_a_session_that_a_program_starts_outside_of_a_command_leaves_it_its_signals():
    before = [signal.getsignal(number) for number in SIGNALS]
    watching, ended = Interrupts(), []
    watching.session_started(lambda: ended.append("session"))
    assert [signal.getsignal(number) for number in SIGNALS] == before
    with watching.watched(), pytest.raises(Interrupted):
        send(signal.SIGTERM)
    assert ended == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_only_sigint_is_deferred(number, code):
    watching = Interrupts()
    with watching.watched(), watching.deferred(), pytest.raises(Interrupted) as interrupted:
        send(number)
    assert interrupted.value.exit_code == code


@pytest.mark.parametrize("first", [signal.SIGHUP, signal.SIGTERM])
def test_a_further_sighup_is_that_of_the_same_terminal_and_does_nothing(monkeypatch, first):
    gone = []
    monkeypatch.setattr(os, "_exit", gone.append)
    watching = Interrupts()
    with watching.watched():
        with pytest.raises(Interrupted):
            send(first)
        send(signal.SIGHUP)
    assert gone == []


@pytest.mark.large
def test_a_command_behind_nohup_outlives_its_terminal():
    process = subprocess.Popen(
        ["nohup", sys.executable, "-c", LONG, "explain", "BOMB"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr.readline() == "begun\n"
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=20)[1] == "session ended\n" + SENTENCE
    assert process.returncode == 143


@pytest.mark.large
@pytest.mark.parametrize("words", [(), ("--json",)], ids=["for people", "as JSON"])
def test_a_command_whose_terminal_was_closed_ends_with_129_and_writes_its_metrics(tmp_path, words):
    lake, path, (terminal, tty) = tmp_path / "lake", tmp_path / "m.prom", os.openpty()
    empty_lake(lake)
    process = subprocess.Popen(
        [sys.executable, "-c", LONG, "status", "--lake", str(lake), "--metrics", str(path), *words],
        stdin=tty, stdout=tty, stderr=tty, start_new_session=True,
    )  # fmt: skip
    os.close(tty)
    with os.fdopen(terminal, "rb") as output:
        assert output.readline().strip() == b"begun"
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=20) == 129
    written = [line for line in path.read_text().splitlines() if line.startswith("strandline_run_exit_code{")]
    assert [line.rpartition(" ")[2] for line in written] == ["129.0"]


def test_handlers_are_those_of_before_when_the_command_has_ended():
    before = [signal.getsignal(number) for number in SIGNALS]
    with Interrupts().watched():
        assert not set(map(signal.getsignal, SIGNALS)) & set(before)
    assert [signal.getsignal(number) for number in SIGNALS] == before


@pytest.fixture(autouse=True)
def _logging_again():
    """A command that is interrupted logs nothing any more; the tests behind it do."""
    import logging

    yield
    logging.disable(logging.NOTSET)
