"""The interface of a dialect, for authors of dialects.

`info` describes a dialect without Spark, with the queries of `health` and `drawing`; `dialect` is the class that
pipelines call. A dialect can also implement the classes of `journals` (it writes journals of local nodes), `pruning`
(its records can be pruned) and `archive` (its journals can be written as files), and the interface of `unpacking` (its
nodes store blocks in folders). `ports` are the interfaces that a pipeline gives a dialect; `admission`, `reduction`,
`export` and `demo` are arguments and results. `records` and `parents` implement the admission of records with an
address: `stages` are what a dialect fills in, `batch` judges one batch, `removed` finds the records that `gc` removed.
"""
