"""Invent ``corpora/reading-sample``: ten readers of 24 sentences, simulated, in the plain CSV format.

Run from the checkout: ``python tests/data/samples/make_reading_sample.py``. A gaze duration is 130 ms, 8 ms a letter, 3.5 ms
a bit of surprisal of cbr-rnn/1 (as bundled in November 2026) at the word and 2 ms at the word before, a reader's speed
(standard deviation 25 ms), a word's own difficulty (12 ms), and noise of 25%; short words are skipped more often. The
total reading time adds, for one word in four, more often if it is hard, a second look of half that duration; words skipped
at first are looked at later as often.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import psymem

SENTENCES = """
The old man walked slowly to the station and waited for the first train of the morning.
She had never seen so many letters on the table in the kitchen of her aunt.
When the rain stopped at last, the children ran into the garden to look for the dog.
He put the key in the lock, but the door of the small house would not open.
The doctor told her that the illness was not as serious as they had feared.
My brother bought a cheap watch in the village, and it broke within a week.
After dinner the guests sat round the fire and talked about the war.
The captain ordered his men to lower the boats before the ship went down.
Nobody in the town remembered the name of the woman who had built the church.
A thin boy with a basket of apples stood at the corner of the street.
They drove through the night and reached the coast a little before dawn.
The teacher closed the window because the noise of the traffic disturbed the class.
It was so cold in the room that the ink froze in the bottle.
Her father kept the money in a wooden box beneath the floor of the bedroom.
The soldiers who guarded the bridge were tired, hungry and far from home.
In the evening the farmer counted his sheep and found that three were missing.
I asked the porter for the key, and he gave me the wrong one twice.
The lawyer read the will aloud while the widow looked out of the window.
We left the car beside the river and climbed the hill on foot.
The horse that won the race belonged to a baker from the north.
Since nobody answered the bell, the postman left the parcel with a neighbour.
The music from the next room kept the baby awake until midnight.
On the last day of the holiday they lost the map and missed the ferry.
The judge did not believe a word of what the witness said.
"""
FOLDER = Path(__file__).resolve().parents[3] / "corpora" / "reading-sample"
READERS = 10


def main() -> None:
    """Write texts.csv and reading.csv."""
    rng, later = np.random.default_rng(20261130), np.random.default_rng(1130)
    texts = [sentence.split() for sentence in SENTENCES.strip().splitlines()]
    scores = psymem.score(texts, "cbr-rnn/1", ["surprisal"])
    words, means = [], []
    for text, own in scores.groupby("text_id", sort=False):
        bits = own["surprisal_bits"].to_numpy()
        before = np.concatenate([[0.0], bits[:-1]])
        letters = own["word"].str.len().to_numpy()
        difficulty = rng.normal(0, 12, len(own))
        means.append(130 + 8 * letters + 3.5 * bits + 2 * before + difficulty)
        words += [(int(text), 1, number, word) for number, word in enumerate(own["word"], start=1)]
    expected = np.concatenate(means)
    with (FOLDER / "texts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["text_id", "sentence_id", "word_id", "word"])
        writer.writerows(words)
    with (FOLDER / "reading.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["subject", "text_id", "word_id", "word", "gaze_duration", "total_reading_time"])
        for reader in range(1, READERS + 1):
            speed = rng.normal(0, 25)
            for (text, _, number, word), mean in zip(words, expected, strict=True):
                skipped = rng.random() < max(0.03, 0.5 - 0.08 * len(word))
                time = "" if skipped else max(60, round((mean + speed) * np.exp(rng.normal(0, 0.25))))
                again = later.random() < 0.25 * mean / expected.mean()
                more = round(0.5 * (mean + speed) * np.exp(later.normal(0, 0.25))) if again else 0
                total = (time or 0) + max(40, more) * again or ""
                writer.writerow([f"r{reader:02}", text, number, word, time, total])


if __name__ == "__main__":
    main()
