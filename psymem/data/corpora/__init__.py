"""What reading corpora have in common: cards, the table that readers return, fixations, fetching."""
