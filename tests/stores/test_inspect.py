"""``evelab inspect`` on an object store, with credentials from the environment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evelab.keys import memory_key
from tests.stores.writer import saver
from tests.test_cli import evelab

if TYPE_CHECKING:
    from tests.stores.places import Place

A, B = memory_key("n", "a"), memory_key("n", "b")


def test_an_address_is_inspected_with_the_credentials_of_the_environment(s3_server: Place) -> None:
    place = replace(s3_server, target=f"{s3_server.target}/inspected")
    store = place.open()
    saver(store, A, 1000)("a text")
    store.write(B, "broken", expected_version=None)
    environ = {
        "AWS_ENDPOINT": place.options["endpoint"],
        "AWS_REGION": place.options["region"],
        "AWS_ACCESS_KEY_ID": place.options["access_key_id"],
        "AWS_SECRET_ACCESS_KEY": place.options["secret_access_key"],
        "AWS_ALLOW_HTTP": "true",
    }
    done = evelab("inspect", place.target, **environ)
    assert done.returncode == 1, done.stderr
    assert done.stdout.count(A) == done.stdout.count(B) == 1
    assert "BROKEN: line 1: the first line is not a file-memory header" in done.stdout
    assert done.stdout.endswith("2 documents, 1 broken.\n")
    refused = evelab("inspect", "s3://absent", **environ)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "could not list" in refused.stderr
