"""Functions from DataFrame to DataFrame that several dialects share; all are lazy."""
