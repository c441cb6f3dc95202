"""What a store says instead of an answer: an OSError in a few words, without addresses, keys or users."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from strandline.kernels.object_stores import ObjectStore


@contextmanager
def plain_errors(store: ObjectStore) -> Iterator[None]:
    """Raise Arrow's errors as OSError with a few words in `strerror`: theirs hold addresses and answers of servers."""
    from pyarrow import ArrowException

    try:
        yield
    except FileNotFoundError:
        raise OSError(errno.ENOENT, "no such object") from None
    except (OSError, ArrowException) as error:
        raise OSError(*_number_and_words(store, error)) from None


def _number_and_words(store: ObjectStore, error: Exception) -> tuple[int, str]:
    """Return the number, which makes it a PermissionError or a FileNotFoundError, and words for an error of Arrow."""
    text = str(error)
    if store.no_token is not None and store.no_token in text:
        return errno.EACCES, "no credentials gave an access token"
    found = store.answer.search(text)
    if found is None:
        # A prefix that is not there, in words without a number.
        if text.startswith("No such file or directory"):
            return errno.ENOENT, "no such object"
        return errno.EIO, f"the store refuses the path ({type(error).__name__})"
    code, status = found[1] or "", found[2]
    is_denied = code in store.denied or status in ("401", "403")
    number = errno.EACCES if is_denied else errno.ENOENT if code in store.missing else errno.EIO
    return number, store.words_for(code, status)
