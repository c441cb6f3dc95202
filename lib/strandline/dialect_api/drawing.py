"""How the records of a namespace of a dialect are drawn, in SQL that Spark and delta-rs both support."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DrawingSql:
    """A drawing of records and the records that they follow, over `tables` with bare names.

    `nodes` selects the records of the namespaces that meet `{condition}`, at most `{most}` of them, each with
    - `place` BIGINT: its position, ascending; records of two branches can share it,
    - `id` STRING or BINARY, and `parents`: one such id, an array of them, or null;
    - `label` STRING and `author` STRING: what it says in short, and who wrote it, or null;
    - `marks` STRING: names of what it is (`head`, `tail`, ..), separated by spaces, or empty.
    `words` says in one sentence what is drawn.
    """

    words: str
    tables: tuple[str, ...]
    nodes: str
