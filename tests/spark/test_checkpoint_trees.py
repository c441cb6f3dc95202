"""Trees of more than one chunk, in one job: places, roots and proofs are those of the plain functions."""

import hashlib

import pytest
from pyspark.sql import functions as F

from strandline.core.errors import FaultError
from strandline.core.merkle import (
    consistency_path,
    inclusion_path,
    is_continued,
    is_included,
    leaf_hash,
    root_of,
)
from strandline.frames import trees
from strandline.kernels.trees import CHUNK_LEAVES
from strandline.pipelines.run_context import NoProgress
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.pipelines.stored_tree import StoredTree

SIZES = {
    "one": 1,
    "few": 300,
    "a chunk": CHUNK_LEAVES,
    "two": CHUNK_LEAVES + 1,
    "three": 2 * CHUNK_LEAVES + 777,
}


def record_id(namespace: str, number: int) -> bytes:
    return hashlib.sha256(f"{namespace} {number}".encode()).digest()


@pytest.fixture(scope="module")
def news(spark):
    parts = [
        spark.range(size).select(
            F.lit(name).alias("namespace"),
            F.unhex(F.sha2(F.concat(F.lit(f"{name} "), F.col("id").cast("string")), 256)).alias("record_id"),
            F.lit(0).cast("bigint").alias("old_size"),
        )
        for name, size in SIZES.items()
    ]
    every = parts[0]
    for part in parts[1:]:
        every = every.unionByName(part)
    return every


@pytest.fixture(scope="module")
def sorted_ids():
    return {name: sorted(record_id(name, number) for number in range(size)) for name, size in SIZES.items()}


def test_records_get_places_by_id_after_the_old_ones_and_trees_the_roots_of_both(news, sorted_ids):
    old = {name: len(ids) // 3 for name, ids in sorted_ids.items()}
    hashes = {name: [leaf_hash(each) for each in ids] for name, ids in sorted_ids.items()}
    placed = trees.with_positions(news)
    found = {name: [] for name in SIZES}
    for row in placed.where("position % 499 = 0 OR position < 3").collect():
        found[row["namespace"]].append((row["position"], bytes(row["record_id"])))
    for name, ids in sorted_ids.items():
        expected = [(at, each) for at, each in enumerate(ids) if at % 499 == 0 or at < 3]
        assert sorted(found[name]) == expected
    by_name = F.create_map(*(F.lit(each) for pair in old.items() for each in pair))
    with_old = placed.withColumn("old_size", by_name[F.col("namespace")].cast("bigint"))
    rows = {row["namespace"]: row for row in trees.roots(with_old).collect()}
    assert rows.keys() == SIZES.keys()
    for name, each in rows.items():
        assert each["size"] == SIZES[name]
        assert bytes(each["root"]) == root_of(hashes[name]), name
        assert bytes(each["old_root"]) == root_of(hashes[name][: old[name]]), name


def test_a_stored_tree_proves_leaves_of_each_chunk_and_older_trees(spark, news, sorted_ids):
    name = "three"
    ids = sorted_ids[name]
    hashes = [leaf_hash(each) for each in ids]
    leaves = trees.with_positions(news.where(F.col("namespace") == name)).drop("old_size")
    with SparkJobs(NoProgress()) as jobs:
        leaves = jobs.persist(leaves, "leaves")
        tree = StoredTree(name, leaves, jobs)
        root = root_of(hashes)
        assert (tree.size, tree.root(0, tree.size)) == (len(ids), root)
        for at in (0, CHUNK_LEAVES - 1, CHUNK_LEAVES, len(ids) - 1):
            assert tree.position_of(ids[at]) == at
            path = inclusion_path(at, tree.size, tree.root)
            assert is_included(hashes[at], at, tree.size, path, root)
        assert tree.position_of(bytes(32)) is None
        for old in (1, CHUNK_LEAVES, CHUNK_LEAVES + 5, 2 * CHUNK_LEAVES, 2 * CHUNK_LEAVES + 700, len(ids)):
            path = consistency_path(old, tree.size, tree.root)
            assert is_continued(old, tree.size, path, root_of(hashes[:old]), root), old
        for missing in (0, CHUNK_LEAVES + 7):
            with pytest.raises(FaultError) as told:
                StoredTree(name, leaves.where(F.col("position") != missing), jobs)
            assert told.value.code == "TREE_DAMAGED"
        with pytest.raises(FaultError):
            StoredTree(name, leaves.unionByName(leaves.where("position = 9")), jobs)
