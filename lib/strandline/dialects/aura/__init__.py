"""Journals of Aura: attested facts of authorities and of contexts."""
