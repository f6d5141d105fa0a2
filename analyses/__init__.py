"""Data only: see the README of the repository."""
