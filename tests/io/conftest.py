"""The server that the tests of corpora and items have, for the tests of downloads."""

from tests.data.conftest import server

__all__ = ["server"]
