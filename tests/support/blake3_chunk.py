"""BLAKE3 of at most 1,024 bytes, one chunk, from its paper: the other hash of the public implementation."""

import struct

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
MIXED = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
         (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))  # fmt: skip
START, END, ROOT = 1, 2, 8
WORD = 0xFFFFFFFF


def blake3(data):
    """The 32-byte digest."""
    if len(data) > 1024:
        raise ValueError("one chunk only")
    blocks = [data[at : at + 64] for at in range(0, len(data), 64)] or [b""]
    chaining = IV
    for number, block in enumerate(blocks):
        flags = (START if number == 0 else 0) | (END | ROOT if number == len(blocks) - 1 else 0)
        words = struct.unpack("<16I", block.ljust(64, b"\x00"))
        chaining = compressed(chaining, words, len(block), flags)
    return struct.pack("<8I", *chaining)


def compressed(chaining, words, size, flags):
    state = [*chaining, *IV[:4], 0, 0, size, flags]
    for _ in range(7):
        for place, cells in enumerate(MIXED):
            mix(state, *cells, words[2 * place], words[2 * place + 1])
        words = tuple(words[each] for each in ORDER)
    return tuple(state[each] ^ state[each + 8] for each in range(8))


def mix(state, a, b, c, d, one, other):
    for word, first, second in ((one, 16, 12), (other, 8, 7)):
        state[a] = (state[a] + state[b] + word) & WORD
        state[d] = rotated(state[d] ^ state[a], first)
        state[c] = (state[c] + state[d]) & WORD
        state[b] = rotated(state[b] ^ state[c], second)


def rotated(word, bits):
    return (word >> bits | word << 32 - bits) & WORD
