"""Mixed models given as lme4 formulas, by engines of our own or others'."""
