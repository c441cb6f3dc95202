"""Errors of wrong calls and of the environment. Bad data is never an exception: it gets a verdict with reasons."""

from typing import ClassVar

from strandline.core.sentences import sentence_of


class StrandlineError(Exception):
    """An error that a user can act on: what is wrong, where, and the next step.

    Attributes:
        code: upper-case name, stable, for programs.
        message: one sentence that says what is wrong and where.
        next: one sentence that says what to do.
        exit_code: exit code of the command.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, code: str, message: str, next: str) -> None:  # noqa: A002 - the report's own word
        super().__init__(code, message, next)
        self.code = code
        self.message = message
        self.next = next

    def __str__(self) -> str:
        return f"{sentence_of(self.message)} {sentence_of(self.next)}".rstrip()

    def __reduce__(self) -> tuple[object, ...]:
        # Errors come out of Spark's tasks pickled, also those whose `__init__` takes other arguments.
        return _unpickled, (type(self), self.args, vars(self))


def _unpickled(
    kind: type[StrandlineError], args: tuple[object, ...], members: dict[str, object]
) -> StrandlineError:
    """Return an error as it was pickled."""
    error = kind.__new__(kind, *args)
    vars(error).update(members)
    return error


class UsageError(StrandlineError):
    """The call was wrong; nothing was written. Exit code 2."""

    exit_code: ClassVar[int] = 2


class FaultError(StrandlineError):
    """The call was right, but the environment failed: a disk, a file, another writer. Exit code 3."""

    exit_code: ClassVar[int] = 3


class NamespaceMismatch(UsageError):  # noqa: N818 - the product's own word
    """A merge of journals of two namespaces was refused. Exit code 2."""

    def __init__(self, expected: str, actual: str) -> None:
        super().__init__(
            "NAMESPACES_DIFFER",
            f"A record of {actual!r} cannot be merged into {expected!r}.",
            "Merge only records of the same namespace.",
        )
        self.expected = expected
        self.actual = actual
