"""Kinds of study: from words and models, or people, to the tables, figures and report of a paper."""
