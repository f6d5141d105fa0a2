"""From a formula and a table to matrices, as R makes them."""
