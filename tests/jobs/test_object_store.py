"""Input from servers of S3 and Google Cloud Storage on loopback, through the installed program."""

import shutil

from support.gcs import google_store
from support.object_runs import lands_whole_or_split
from support.s3 import store


def test_objects_of_stores_are_landed_whole_or_split(program, empty_lakes, tmp_path):
    with store() as amazon, google_store() as google:
        servers = {"amazon": amazon, "google": google}
        for name in servers:
            shutil.copytree(empty_lakes[False], tmp_path / name)
        lands_whole_or_split(program, tmp_path, servers)
