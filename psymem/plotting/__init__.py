"""Figures: table and Axes in, Axes out."""
