"""Strandline lands journals that many nodes write on their own, proves them and folds them to one state."""

__version__ = "0.1.0"
