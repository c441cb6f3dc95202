"""The tables as values: reads `schemas/` and renders SQL from it as text.

Nothing here runs SQL. `load` reads contracts, `ddl`, `merge`, `checks` and `views` render text by pure functions,
`reasons` has the registry of reason codes, `resources` finds the files in a checkout, an installed wheel or a zip.
"""
