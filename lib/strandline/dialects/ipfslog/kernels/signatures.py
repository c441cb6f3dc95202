"""Signatures in batches: keys, signatures and signed bytes in, verdicts out."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strandline.core.signatures import verify


def verified(keys: pd.Series, signatures: pd.Series, messages: pd.Series) -> np.ndarray:
    """Return, per row, whether the signature (strict DER) is valid for the key over SHA-256 of the message."""
    found = np.empty(len(keys), dtype=bool)
    rows = zip(keys.to_numpy(), signatures.to_numpy(), messages.to_numpy(), strict=True)
    for row, (key, signature, message) in enumerate(rows):
        found[row] = verify(key, signature, message)
    return found
