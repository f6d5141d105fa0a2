"""Files in and out: delimited tables, encodings, spreadsheets, downloads, and results with their origin."""
