"""The state of one log as a pure function of its accepted entries: order, stores, state hash, forks, parts."""

from strandline.dialects.ipfslog.reduce.configuration import (
    LogConfiguration,
    access_digest,
    configuration_of,
    database_digest,
    list_digest,
    parse_log_config,
)
from strandline.dialects.ipfslog.reduce.dag import Dag, Newest, Node, node_of, order_key, walk
from strandline.dialects.ipfslog.reduce.forks import KIND as FORK_KIND
from strandline.dialects.ipfslog.reduce.forks import forks
from strandline.dialects.ipfslog.reduce.pruning import KIND, carry_of, plan_log, prove_log
from strandline.dialects.ipfslog.reduce.reading import UnknownEntry, iterate, last, traverse
from strandline.dialects.ipfslog.reduce.skeletons import (
    Carry,
    decode_carry,
    decode_skeleton,
    encode_carry,
    encode_skeleton,
)
from strandline.dialects.ipfslog.reduce.state import (
    ORDER_BLOCK,
    LogState,
    reduce_dag,
    reduce_log,
    state_hash,
)
from strandline.dialects.ipfslog.reduce.stores import (
    STORES_WITH_ROWS,
    Op,
    Store,
    counter,
    document_rows,
    feed,
    ops_of,
    payload_json,
    value_json,
)

__all__ = [
    "FORK_KIND",
    "KIND",
    "ORDER_BLOCK",
    "STORES_WITH_ROWS",
    "Carry",
    "Dag",
    "LogConfiguration",
    "LogState",
    "Newest",
    "Node",
    "Op",
    "Store",
    "UnknownEntry",
    "access_digest",
    "carry_of",
    "configuration_of",
    "counter",
    "database_digest",
    "decode_carry",
    "decode_skeleton",
    "document_rows",
    "encode_carry",
    "encode_skeleton",
    "feed",
    "forks",
    "iterate",
    "last",
    "list_digest",
    "node_of",
    "ops_of",
    "order_key",
    "parse_log_config",
    "payload_json",
    "plan_log",
    "prove_log",
    "reduce_dag",
    "reduce_log",
    "state_hash",
    "traverse",
    "value_json",
    "walk",
]
