"""The tables as values: `schemas/` read, and the SQL that follows from it rendered as text.

Nothing here runs SQL. `load` reads contracts, `ddl`, `merge` and `views` render text by pure functions,
`reasons` holds the registry of reason codes, `resources` finds the files in a checkout, in an installed wheel
and in a zip alike.
"""
