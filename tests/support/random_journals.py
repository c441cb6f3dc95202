"""Random journals: trees of lines, cut into files and frames, edited, spread over runs; the same for a seed."""

import random
from collections.abc import Iterator

from strandline.dialects.sdmp.author import append, synthetic_id
from strandline.dialects.sdmp.codec import batch, line_hash, profile_of, render

MARK = b"\xef\xbb\xbf"


def tree(rng: random.Random, number: int) -> list[bytes]:
    """The lines of journal `number`, each after the one that it follows; about half of the journals fork."""
    profile = rng.choice(["0.9", "0.12"])
    lines = [synthetic_id("node", number, profile).encode()]
    forks = rng.random() < 0.5
    for _ in range(rng.randrange(0, 14)):
        before = rng.choice(lines) if forks and rng.random() < 0.3 else lines[-1]
        pair = (
            synthetic_id("author", rng.randrange(3), profile),
            synthetic_id("resource", rng.randrange(9), profile),
        )
        line = next(append(before, [pair], profile))
        if line not in lines:
            lines.append(line)
    return lines


def path_to(lines: list[bytes], end: bytes) -> list[bytes]:
    """Line 1 and what leads from it to `end`."""
    profile = profile_of(lines[0].decode())
    by_hash = {line_hash(line, profile): line for line in lines}
    path = [end]
    while b"@" in path[-1]:
        path.append(by_hash[path[-1].partition(b"@")[0].decode()])
    return path[::-1]


def edited(rng: random.Random, lines: list[bytes], all_lines: list[bytes]) -> list[bytes]:
    """Some lines with one thing wrong."""
    lines = list(lines)
    at = rng.randrange(len(lines))
    edit = rng.choice(
        ["delete", "alter", "cut", "empty", "duplicate", "insert", "swap", "upper", "first", "bytes"]
    )
    if edit == "delete":
        del lines[at]
    elif edit == "alter":
        line = bytearray(lines[at])
        place = rng.randrange(len(line))
        line[place] = rng.choice(b"0123456789abcdef-_AQgwZ")
        lines[at] = bytes(line)
    elif edit == "cut":
        lines[at] = lines[at][:-1]
    elif edit == "empty":
        lines.insert(at, b"")
    elif edit == "duplicate":
        lines.insert(at, lines[at])
    elif edit == "insert":
        lines.insert(at, rng.choice(all_lines))
    elif edit == "swap":
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif edit == "upper":
        lines[at] = lines[at].upper()
    elif edit == "first":
        lines.insert(at, all_lines[0])
    else:
        lines.insert(at, bytes(rng.randrange(256) for _ in range(rng.randrange(40))).replace(b"\n", b"?"))
    return lines


def text(rng: random.Random, lines: list[bytes]) -> bytes:
    """Lines as a text journal, in one of the spellings that mean the same."""
    content = render(lines)
    if rng.random() < 0.2:
        content = content.replace(b"\n", b"\r\n")
    if rng.random() < 0.5:
        content += b"\n"
    return (MARK if rng.random() < 0.1 else b"") + content


def frame(rng: random.Random, lines: list[bytes], path: list[bytes]) -> bytes:
    """A part of a path as a frame; its `since` is right more often than not."""
    node = path[0].decode()
    start = rng.randrange(len(path))
    stop = rng.randrange(start, len(path)) + 1
    right = node if start < 2 else path[start - 1].partition(b"@")[0].decode()
    since = right if rng.random() < 0.8 else line_hash(rng.choice(lines), profile_of(node))
    entries = path[start:stop]
    if entries and rng.random() < 0.25:
        entries = edited(rng, entries, lines)
    safe = [entry for entry in entries if _is_text(entry)]
    return batch(node, since, safe)


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def deliveries(rng: random.Random, number: int) -> Iterator[tuple[str, bytes]]:
    """Files of one journal: (name, content)."""
    lines = tree(rng, number)
    for part in range(rng.randrange(1, 5)):
        path = path_to(lines, rng.choice([lines[-1], rng.choice(lines)]))
        kind = rng.random()
        if kind < 0.55:
            chosen = edited(rng, path, lines) if rng.random() < 0.4 else path
            yield f"{number:04}-{part}.journal", text(rng, chosen)
        elif kind < 0.95:
            frames = [
                frame(rng, lines, path_to(lines, rng.choice(lines))) for _ in range(rng.randrange(1, 4))
            ]
            if rng.random() < 0.1:
                frames.insert(rng.randrange(len(frames)), rng.choice(DAMAGED_FRAMES))
            if rng.random() < 0.2:
                frames.append(b"")
            yield f"{number:04}-{part}.jsonl", b"\n".join(frames) + (b"\n" if rng.random() < 0.7 else b"")
        else:
            yield (
                f"{number:04}-{part}.bad",
                rng.choice([b"", b"\n", b"no journal\n", b"\r\n\r\n", MARK, MARK + b"x"]),
            )


DAMAGED_FRAMES = (
    b'{"node":"x","journal":{"since":"x","entries":[]}}',
    b'{"node":1}',
    b'{"a":1,"a":2}',
    b"{",
    b'{"node":"../../x","resources":[]}',
    b'{"node":"' + b"a" * 64 + b'","resources":[{"author":"b","resource":"c"}]}',
)


def corpus(seed: int, journals: int, runs: int) -> list[dict[str, bytes]]:
    """Files of `journals` journals, dealt over `runs` runs; some files come in two runs."""
    rng = random.Random(seed)
    dealt: list[dict[str, bytes]] = [{} for _ in range(runs)]
    for number in range(journals):
        for name, content in deliveries(rng, number):
            dealt[rng.randrange(runs)][name] = content
            if rng.random() < 0.15:
                dealt[rng.randrange(runs)][name] = content
    return dealt
