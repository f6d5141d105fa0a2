"""Items crossed with conditions: the attraction experiment and its like."""
