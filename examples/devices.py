"""Writes `devices.jsonl`, the logs of a phone and a computer that were apart for a day.

INSECURE DEMO: the keys are known.
"""

from pathlib import Path

from strandline.dialects.devicelog.codec import write_entry
from strandline.dialects.devicelog.demo import example


def lines() -> bytes:
    """Return the entries of both devices, parents first, one line each."""
    entries = {entry.record_id: entry for device in example() for entry in device.entries()}
    ordered = sorted(entries.values(), key=lambda entry: (entry.lamport, entry.record_id))
    return b"".join(write_entry(entry) + b"\n" for entry in ordered)


def main() -> None:
    """Write the file to the folder of this module."""
    Path(__file__).with_name("devices.jsonl").write_bytes(lines())


if __name__ == "__main__":
    main()
