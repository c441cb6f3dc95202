"""Reads of parts of logs, drawn at random, and rows of `ipfs_log_dag` in memory."""

from strandline.dialects.ipfslog.reduce import Dag, iterate, node_of, traverse


def rows_of(entries):
    """Entries of one log as `ipfs_log_dag` shows them."""
    reference = Dag(map(node_of, entries))
    return [
        {
            "namespace": each.namespace,
            "record_id": each.record_id.hex(),
            "cid": each.cid,
            "variant": each.variant,
            "clock_time": each.clock_time,
            "clock_id": each.clock_id,
            "position": reference.position[each.record_id],
            "next": [digest.hex() for digest in each.next],
        }
        for each in entries
    ]


def drawn_reads(draw, dag):
    """Some reads of a log: the name of the function and its arguments."""
    cids = [node.cid for node in dag.nodes.values()]
    reads = [("iterate", {}), ("traverse", {})]
    for _ in range(6):
        asked = {}
        if draw.random() < 0.6:
            asked[draw.choice(["lt", "lte"])] = draw.sample(cids, min(len(cids), draw.choice([1, 1, 2])))
        if draw.random() < 0.5:
            asked[draw.choice(["gt", "gte"])] = draw.choice(cids)
        if draw.random() < 0.6:
            asked["amount"] = draw.choice([-1, 0, 1, 3])
        reads.append(("iterate", asked))
    for _ in range(3):
        asked = {}
        if draw.random() < 0.6:
            asked["roots"] = draw.sample(cids, min(len(cids), 2))
        if draw.random() < 0.5:
            asked["end"] = draw.choice(cids)
        if draw.random() < 0.5:
            asked["amount"] = draw.choice([-1, 0, 2])
        reads.append(("traverse", asked))
    return reads


def taken(dag, name, asked):
    """What the reference takes."""
    return {"iterate": iterate, "traverse": traverse}[name](dag, **asked)
