"""The demo files of node journals: two published examples as printed, and synthetic journals with known faults.

Sources: the document "Journal" of SDMP 0.9, 11 June 2015 (its line 3 is wrong and was corrected a week later); the
SDMP 0.12 specification, July 2016.
"""

from __future__ import annotations

from typing import Final

from strandline.core.ids import namespace
from strandline.dialect_api.demo import Demo, DemoFile, DemoRejection
from strandline.dialects.sdmp import author, codec

QUERY: Final = """\
SELECT left(resource_id, 16) AS resource, recorded_count, lacking_count
FROM resource_spread WHERE recorded_count > 1 ORDER BY resource"""
NEXT_QUERY: Final = "SELECT n, line, disputed FROM node_journal_entry WHERE disputed"

PRINTED: Final = "published-0.9-printed.journal"
NODE: Final = "7a5179eecc0fe18760ba615f92603372ae3fe302860098a019e15927551fee3b"
_AUTHOR = "d341ba4104e7c004c2fe56d65636b945b57550081711a1d306a9f41d2b440c75"
_RESOURCES = (
    "ad700edf9094f10db2f4e56185645fd3630bbbab832d6f659dad08f0d9f43743",
    "9094f10db2f4e56185645fd3630bbbab832d6f659dad08f0d9f43743ad700edf",
)
_NUMBER_2 = "1467d232075b693bd528521179679ec07a083e4f0076ecd2af61607d6b5b2b38"
PRINTED_NUMBER_3: Final = "08dcde77e36f7206e31ce839449ccb07c46ab7c65328670051dc142c3f0c76d4"
RIGHT_NUMBER_3: Final = "7f6b5d882777fa3620c2a0c86c31537b30cbfaa55f09fb948c9ed491e0968fce"

_NODE_12 = "IMJ--MJJMtV9PVsR82vKWaJaj7P0TB6tJVB9i5aAcQzuy6I6x4S3tDLHN6lJ2_m6U_bo9SClnsqotGBnalyPYw"
_AUTHOR_12 = "1Zy3eUBJAAYwfvfmO8uOYFKHY54fIz_jkOzBddcTb-IXlhos_LJcMlMafHABimG0_afp_gc9fNEcfDVM_y-o7A"
_LINES_12 = (
    (
        "2YLFjtSFIFYviDLjt8PbLsrRApuYZCk2mgnT8t07AidsuOODTZMUP5hL7iQKeNxJ8uwlEygLCmiEuXOFyJliQw",
        _AUTHOR_12,
        "5w4IzlVU2d6KxWFhNF2hUW-rECxS6Kbi4PJ2B2z0-6n243MfYr0iPlF06S35Usd_zMPemVmPcI2WrifStdlN4A",
    ),
    (
        "7lly-uncz6Y1QP8JJSlYJKUchKnsAYXaWqUVbY1x3SVcmgpiJM1UdnWAC9XazSzbMSGsYjsIS-NlRblIXplsXQ",
        _AUTHOR_12,
        "GpUTDufRSi-nLwCX7kjmFbn-_xO7m-XtNG7FVFtwBk4vl8oE8e4jJzMs_eDlvrZ0mQqeZ8B1he9BaLYGlAvdUQ",
    ),
    (
        "FTwNvVSwKrW16wFBKgEsRiyfgrysoR4mJtJBC1hECfWTonQ0lHoaavJHJUdUEsWyc9t5bgq3rFNwiaUjK3jDiw",
        _NODE_12,
        "aXGppFC6WWoSwx61Fs0bAHLij38_AWVRNDupbUC1sQti9ToT1VKs_zoxoMG-Gb66OHVcwIOdKooRYLPn_4-J9g",
    ),
)

_DAMAGED_AT = 20


def demo() -> Demo:
    """Return the demo's files; the demo explains line 3 of the published 0.9 example."""
    rejection = DemoRejection(
        f"Line 3 of {PRINTED} was rejected", PRINTED, namespace("node", NODE), "LINE_NUMBER_MISMATCH"
    )
    return Demo(journals(), rejection, QUERY, NEXT_QUERY)


def journals() -> tuple[DemoFile, ...]:
    """Return the files of the demo, by name; the same bytes on every call.

    The files are small, since the demo shows verdicts. Each synthetic journal is J(i, n) of `author.synthetic`,
    except `synthetic-3`, which also records the published resources.
    """
    shared = _sharing(3)
    return (
        DemoFile("damaged.journal", "synthetic, one byte of line 20 altered", 40, damaged(4, 40)),
        DemoFile("forked.jsonl", "synthetic, two lines 4 that both follow line 3", 6, forked()),
        DemoFile("published-0.12.journal", "published July 2016, SHA-512", 4, published_12()),
        DemoFile(
            "published-0.9-corrected.journal", "its correction, a week later", 3, published(RIGHT_NUMBER_3)
        ),
        DemoFile(
            PRINTED,
            "published June 2015, line 3 is wrong",
            3,
            published(PRINTED_NUMBER_3),
        ),
        DemoFile("synthetic-1.journal", "synthetic, SHA-256", 1000, codec.render(author.synthetic(1, 1000))),
        DemoFile(
            "synthetic-2.journal", "synthetic, SHA-512", 200, codec.render(author.synthetic(2, 200, "0.12"))
        ),
        DemoFile("synthetic-3.journal", "synthetic, records the published resources", 3, shared),
    )


def published(number_3: str) -> bytes:
    """Return the published 0.9 example, 454 bytes, with this number on its line 3."""
    return "\n".join(
        (NODE, f"{_NUMBER_2}@{_AUTHOR}/{_RESOURCES[0]}", f"{number_3}@{_AUTHOR}/{_RESOURCES[1]}")
    ).encode("ascii")


def published_12() -> bytes:
    """Return the published 0.12 example, 869 bytes."""
    lines = (f"{number}@{by}/{resource}" for number, by, resource in _LINES_12)
    return "\n".join((_NODE_12, *lines)).encode("ascii")


def damaged(i: int, n: int) -> bytes:
    """Return J(i, n) with the last character of line 20 changed, so that line 21 no longer follows it."""
    lines = list(author.synthetic(i, n))
    line = lines[_DAMAGED_AT - 1]
    lines[_DAMAGED_AT - 1] = line[:-1] + (b"0" if line[-1:] != b"0" else b"1")
    return codec.render(lines)


def forked() -> bytes:
    """Return J(0, 5) and a second line 4 in another frame: two histories of one node, each valid alone."""
    lines = list(author.synthetic(0, 5))
    node = lines[0].decode("ascii")
    pair = (author.synthetic_id("author", 0), author.synthetic_id("resource", 999))
    [other] = author.append(lines[2], (pair,))
    number_of_3 = lines[2].partition(b"@")[0].decode("ascii")
    return b"".join(
        frame + b"\n" for frame in (codec.batch(node, node, lines), codec.batch(node, number_of_3, (other,)))
    )


def _sharing(i: int) -> bytes:
    """Return a journal of synthetic node i that records the resources of the published 0.9 example."""
    first = author.synthetic_id("node", i).encode("ascii")
    return codec.render((first, *author.append(first, ((_AUTHOR, resource) for resource in _RESOURCES))))
