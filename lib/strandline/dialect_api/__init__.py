"""What a dialect is, for those who write one.

`info` describes a dialect without Spark, `dialect` is the class that pipelines call, `journals` the class of dialects
that write journals of local nodes. `ports` is what a dialect may ask of the pipeline; `admission`, `reduction`,
`export` and `demo` are the values that go in and out.
"""
