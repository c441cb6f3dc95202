"""Groups of any size with predictable contents, for measurements and vectors."""

from __future__ import annotations

import hashlib

from strandline.dialects.devicelog.author.log import DeviceLog, meet, public_key


def synthetic(i: int, logs: int, n: int, every: int) -> list[DeviceLog]:
    """Return `logs` devices of group `i` that have written `n` messages in turn, and met in pairs after `every` ones.

    All contents derive from the four numbers: seeds, labels, bodies and times.
    """
    seeds = [
        hashlib.sha256(f"strandline/devicelog/synthetic/{i}/{each}".encode()).digest() for each in range(logs)
    ]
    founder = DeviceLog.found(seeds[0], "0", [public_key(seed) for seed in seeds[1:]])
    start = founder.entries()
    others = [
        DeviceLog.join(seed, str(place), start, founder.group, utc=0)
        for place, seed in enumerate(seeds[1:], start=1)
    ]
    devices = [founder, *others]
    for k in range(n):
        utc = 1000 * k
        devices[k % logs].append(str(k).encode(), utc)
        if every and (k + 1) % every == 0:
            m = (k + 1) // every - 1
            meet(devices[m % logs], devices[(m + 1) % logs], utc)
    return devices
