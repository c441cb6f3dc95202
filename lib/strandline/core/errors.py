"""Errors for a wrong operator or a wrong program. Bad data never comes here: it is a verdict with reasons."""

from typing import ClassVar


class StrandlineError(Exception):
    """An error that a user can act on: what was wrong, and the next step.

    Attributes:
        code: SHOUTING name, stable, for machines.
        message: one sentence that names the thing that was wrong.
        next: one sentence that says what to do.
        exit_code: what the command ends with.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, code: str, message: str, next: str) -> None:  # noqa: A002 - the report's own word
        # All three go to Exception, so that the error survives pickling between processes.
        super().__init__(code, message, next)
        self.code = code
        self.message = message
        self.next = next

    def __str__(self) -> str:
        return f"{self.message} {self.next}".rstrip()


class UsageError(StrandlineError):
    """The call was wrong; nothing was written. Exit code 2."""

    exit_code: ClassVar[int] = 2


class FaultError(StrandlineError):
    """The call was right and something around it failed: a disk, a file, another writer. Exit code 3."""

    exit_code: ClassVar[int] = 3


class NamespaceMismatch(UsageError):  # noqa: N818 - the product's own word
    """Journals of two namespaces were to be merged; nothing was. Exit code 2."""

    def __init__(self, expected: str, actual: str) -> None:
        super().__init__(
            "NAMESPACES_DIFFER",
            f"A record of {actual!r} cannot go into {expected!r}.",
            "Merge what belongs to one namespace, each into its own.",
        )
        self.expected = expected
        self.actual = actual
