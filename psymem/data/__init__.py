"""Human data and the items people and models read."""
