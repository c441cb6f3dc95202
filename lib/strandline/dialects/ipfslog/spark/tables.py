"""The names of the tables of logs."""

from typing import Final

from strandline.contracts.shared_tables import EQUIVOCATIONS

ENTRIES: Final = "ipfs_log_entry"
IDENTITIES: Final = "ipfs_log_identity"
MANIFESTS: Final = "ipfs_log_manifest"
HEADS: Final = "ipfs_log_head"
TAILS: Final = "ipfs_log_tail"
VIEW: Final = "ipfs_log_view"
DOCUMENTS: Final = "ipfs_log_document"
REDUCED: Final = (HEADS, TAILS, VIEW, DOCUMENTS, EQUIVOCATIONS)
