"""What several kinds of study share: scoring their items or corpora, rows, means, intervals, results folders."""
