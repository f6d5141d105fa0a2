"""The tokenizer of our word-level models: everything is in ``tokenizer.json``, nothing in code that reads it.

Case, accents, typographic quotes, numerals, clitics and punctuation are dealt with by the `tokenizers` pipeline
itself, so that raw text, word lists and other tools that load the directory give identical tokens. No step looks
across white space: the tokens of a text are the tokens of its white-space words, one after the other.

- lower case, accents stripped, typographic quotes and dashes made plain
- numerals become ``<num>`` (with a following st, nd, rd, th or s: 1st, 1890s)
- clitics are split as in the Penn Treebank: do n't, she 's, they 'll
- punctuation and hyphens are tokens of their own: well - known
"""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordLevel

PAD, UNK, BOS, EOS, NUM = "<pad>", "<unk>", "<s>", "</s>", "<num>"
SPECIAL_TOKENS = (PAD, UNK, BOS, EOS, NUM)
PAD_ID, UNK_ID, BOS_ID, EOS_ID, NUM_ID = range(len(SPECIAL_TOKENS))

NUMERAL = r"\d+(?:[.,:/]\d+)*(?:(?:st|nd|rd|th|s)(?![a-z]))?"
CLITIC = r"'(?:s|m|d|re|ve|ll)(?!\p{L})"
NEGATION = r"n't(?!\p{L})"
WORD = rf"\p{{L}}(?:(?!{NEGATION})(?:\p{{L}}|(?!{CLITIC})'(?=\p{{L}})))*"
PIECE = rf"<(?:pad|unk|num|/?s)>|{NEGATION}|{CLITIC}|{WORD}|\.{{2,}}|--|[^\s]"


def build_tokenizer(vocabulary: Sequence[str]) -> Tokenizer:
    """Return a word-level tokenizer over `vocabulary` (most frequent first), special tokens before it.

    Parameters
    ----------
    vocabulary
        Word types as this tokenizer's own pipeline spells them; special tokens in it are ignored.
    """
    words = [w for w in dict.fromkeys(vocabulary) if w not in SPECIAL_TOKENS]
    ids = {word: i for i, word in enumerate((*SPECIAL_TOKENS, *words))}
    tokenizer = Tokenizer(WordLevel(ids, unk_token=UNK))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex("[‘’ʼ´`]"), "'"),
            normalizers.Replace(Regex("[“”„«»]|''"), '"'),
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
            normalizers.Replace(Regex("[–—―]|-{2,}"), "--"),
            normalizers.Replace(Regex(NUMERAL), NUM),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Split(Regex(PIECE), behavior="removed", invert=True),
        ]
    )
    tokenizer.add_special_tokens([PAD, UNK, BOS, EOS])
    return tokenizer


def split_words(texts: Sequence[str]) -> list[list[str]]:
    """Return the pieces of each text as the pipeline spells them, whatever the vocabulary."""
    tokenizer = build_tokenizer([])
    normalizer, splitter = tokenizer.normalizer, tokenizer.pre_tokenizer
    return [[piece for piece, _ in splitter.pre_tokenize_str(normalizer.normalize_str(t))] for t in texts]
