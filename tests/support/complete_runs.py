"""A plugin of pytest: a limit of time for each test, nothing left out in CI, `--part` of the slow tier."""

import os

import pytest

from support.slow_parts import Part, divide, keep_seconds, stored_seconds
from support.tiers import TIERS, is_spark, tier_of

LEFT_OUT = ("skipped", "xfailed", "xpassed")
SECONDS = {"slow": 1800, "spark": 1200, "plain": 300}
"""A test that takes longer hangs: it fails and the run continues. The session's start counts for the first."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("slow tier")
    group.addoption("--part", type=Part.parse, metavar="K/N", help="of the slow tests, only part K of N")
    group.addoption(
        "--keep-seconds", action="store_true", help="store how long each slow test took, for the next --part"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every test has a limit of time; slow tests of other parts go."""
    slow = {item.nodeid for item in items if item.get_closest_marker("slow")}
    for item in items:
        kind = "slow" if item.nodeid in slow else "spark" if is_spark(item.nodeid) else "plain"
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SECONDS[kind]))
    part = config.getoption("part")
    if part is None:
        return
    ours = set(divide(slow, stored_seconds(), part.count)[part.number - 1])
    gone = [item for item in items if item.nodeid in slow - ours]
    items[:] = [item for item in items if item.nodeid not in slow - ours]
    config.hook.pytest_deselected(items=gone)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if hasattr(config, "workerinput"):
        return
    if config.getoption("keep_seconds"):
        slow = [each for each in _reports(config, "passed") if "slow" in each.keywords]
        keep_seconds({each.nodeid: each.duration for each in slow})
    if os.environ.get("CI") == "true" and faults(config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    if os.environ.get("CI") == "true":
        for fault in faults(config):
            terminalreporter.write_line(f"ERROR {fault}", red=True)


def faults(config: pytest.Config) -> list[str]:
    """What a run left out that should run everything it names: tests that were not run, folders without a test."""
    found = [f"{kind}: {each.nodeid}" for kind in LEFT_OUT for each in _reports(config, kind)]
    everything = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    # The marks that the settings choose: no other -m was given.
    if everything and config.getoption("markexpr") in config.getini("addopts"):
        ran = {tier_of(each.nodeid) for each in _reports(config, "passed")}
        found += [f"no test passed in tests/{tier}" for tier in TIERS if tier not in ran]
    return found


def _reports(config: pytest.Config, kind: str) -> list[pytest.TestReport]:
    """The reports of one kind that the closing line counts."""
    return config.pluginmanager.get_plugin("terminalreporter").stats.get(kind, [])
