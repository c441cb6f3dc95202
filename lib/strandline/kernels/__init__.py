"""Kernels that several dialects share: files to decompressed blocks, blocks to lines. No Spark, no JVM."""
