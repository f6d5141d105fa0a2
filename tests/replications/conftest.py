"""The published scores, as the studies' tests have them."""

from tests.studies.conftest import published, published_lme4

__all__ = ["published", "published_lme4"]
