"""The interface of a dialect, for authors of dialects.

`info` describes a dialect without Spark, `dialect` is the class that pipelines call, `journals` the class of dialects
that write journals of local nodes. `ports` are the interfaces that a pipeline gives a dialect; `admission`,
`reduction`, `export` and `demo` are arguments and results. `records` and `parents` implement the admission of records
with an address.
"""
