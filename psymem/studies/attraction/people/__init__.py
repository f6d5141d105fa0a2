"""People's own trials on the items: their effects, the measures as predictors, and how they are reported."""
