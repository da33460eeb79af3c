"""BERT's uncased tokenizer: words and punctuation, then the longest pieces of the vocabulary (Devlin et al. 2018; Wu et
al. 2016)."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np

LONGEST_WORD = 100


class WordPiece:
    """Turns sentences into rows of token numbers: [CLS] pieces [SEP], padded with zeros."""

    def __init__(self, vocabulary: Path):
        pieces = vocabulary.read_text(encoding="utf-8").splitlines()
        self.ids = {piece: number for number, piece in enumerate(pieces)}
        self.unknown, self.begin, self.end = (self.ids[t] for t in ("[UNK]", "[CLS]", "[SEP]"))

    def batch(self, sentences: list[str], length: int) -> dict[str, np.ndarray]:
        """tokens, segments and mask, int64 [len(sentences), length]; longer sentences are cut."""
        tokens = np.zeros((len(sentences), length), np.int64)
        mask = np.zeros_like(tokens)
        for row, sentence in enumerate(sentences):
            pieces = [p for word in _words(sentence) for p in self._pieces(word)][: length - 2]
            line = [self.begin, *pieces, self.end]
            tokens[row, : len(line)] = line
            mask[row, : len(line)] = 1
        return {"tokens": tokens, "segments": np.zeros_like(tokens), "mask": mask}

    def _pieces(self, word: str) -> list[int]:
        if len(word) > LONGEST_WORD:
            return [self.unknown]
        result, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = self.ids.get(("##" if start else "") + word[start:end])
                if piece is not None:
                    result.append(piece)
                    start = end
                    break
            else:
                return [self.unknown]
        return result


def _is_punctuation(char: str) -> bool:
    return (char.isascii() and char.isprintable() and not char.isalnum() and char != " ") or unicodedata.category(char)[
        0
    ] == "P"


def _is_ideograph(char: str) -> bool:
    return unicodedata.name(char, "").startswith("CJK UNIFIED IDEOGRAPH") or unicodedata.name(char, "").startswith(
        "CJK COMPAT"
    )


def _words(text: str) -> list[str]:
    """Lower case without accents; punctuation marks and ideographs are words of their own, control characters
    vanish."""
    text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    spaced = []
    for char in text:
        if char.isspace():
            spaced.append(" ")
        elif _is_punctuation(char) or _is_ideograph(char):
            spaced.append(f" {char} ")
        elif char != "\ufffd" and unicodedata.category(char)[0] != "C":
            spaced.append(char)
    return "".join(spaced).split()
