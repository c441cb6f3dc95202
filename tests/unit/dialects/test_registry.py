"""The registry of dialects: what a package that registers one may do wrong."""

from importlib.metadata import EntryPoint

import pytest

from strandline import dialects
from strandline.core.errors import UsageError


@pytest.mark.parametrize(
    ("registered", "code"),
    [
        (("toy", "no_such_module:INFO"), "DIALECT_NOT_LOADED"),
        (("toy", "strandline.dialects.sdmp.info:NOTHING"), "DIALECT_NOT_LOADED"),
        (("toy", "strandline.dialects.sdmp.info:STRICT"), "DIALECT_NOT_LOADED"),
        (("toy", "strandline.dialects.sdmp.info:INFO"), "DIALECT_NOT_LOADED"),
        (("sdmp", "strandline.dialects.sdmp.info:INFO"), "DIALECT_TWICE"),
    ],
)
def test_a_package_that_registers_a_dialect_wrongly_is_named(monkeypatch, registered, code):
    monkeypatch.setattr(dialects, "entry_points", lambda group: [EntryPoint(*registered, group)])
    dialects.infos.cache_clear()
    try:
        with pytest.raises(UsageError) as refused:
            dialects.infos()
    finally:
        monkeypatch.undo()
        dialects.infos.cache_clear()
    assert refused.value.code == code
    assert registered[0] in refused.value.message


def test_every_dialect_of_this_package_says_the_name_that_it_is_registered_by():
    assert [*dialects.infos()][:4] == ["sdmp", "ipfslog", "aura", "devicelog"]
    assert all(
        name == info.name == dialects.dialect(name).info.name for name, info in dialects.infos().items()
    )
