"""Input from servers of S3 and Google Cloud Storage on loopback, through the installed program."""

import shutil

import pytest

from support.gcs import google_store
from support.object_runs import lands_whole_or_split
from support.s3 import store


@pytest.mark.parametrize("serve", [store, google_store])
def test_objects_of_a_store_are_landed_whole_or_split(program, empty_lakes, tmp_path, serve):
    shutil.copytree(empty_lakes[False], tmp_path / "lake")
    with serve() as served:
        lands_whole_or_split(program, tmp_path, served)
