"""Input from Azure, by the rules of every store, and through the installed program."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from strandline.tables.object_sources import check_prefix
from strandline.tables.sources import select
from support.azurite import OTHER_KEY, AzureStore, azure_store
from support.object_rules import ObjectRules
from support.object_runs import lands_whole_or_split

pytestmark = [pytest.mark.azure, pytest.mark.timeout(1200)]


class TestAzure(ObjectRules):
    serve = staticmethod(azure_store)
    denied = "authorization failure (http 403)"
    silent = "does not answer"

    @staticmethod
    @contextmanager
    def forbidden(served: AzureStore) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AZURE_STORAGE_ACCOUNT_KEY", OTHER_KEY)
            yield

    @staticmethod
    def elsewhere(address: str) -> Mapping[str, str]:
        return {"AZURE_STORAGE_SERVICE_ENDPOINT": f"http://{address}/devstoreaccount1"}

    def test_an_object_that_stands_for_a_folder_is_no_input(self, served, refused) -> None:
        for folder in ("marked", "marked/sub", "marked/empty"):
            served.mark_folder(folder)
        served.put("marked/sub/a.journal", b"a\n")
        served.put("marked/sub/empty.journal", b"")
        found = [f"{served.root}/marked/sub/{name}.journal" for name in ("a", "empty")]
        for source in ("marked", "marked/sub"):
            assert [each.source for each in select([f"{served.root}/{source}"], most=9).files] == found
        assert refused("marked/empty").code == "SOURCE_MISSING"
        check_prefix(f"{served.root}/marked/empty".encode())


def test_objects_of_azure_are_landed_whole_or_split(program, tmp_path):
    with azure_store() as served:
        lands_whole_or_split(program, tmp_path, {"lake": served})
