"""CBR-RNN: a recurrent language model whose one attention head is cue-based memory retrieval.

Timkey & Linzen (2023), "A Language Model with Limited Memory Capacity Captures Interference in Human Sentence
Processing", Findings of EMNLP. The network reads word i with embedding e_i and its previous hidden state h_{i-1}:

    q_i             = tanh LN( W_q [e_i; h_{i-1}] + b_q )                      the retrieval cue
    s_ij            = q_i . k_j / sqrt(d)                                     match of the cue with memory j < i
    w_i             = softmax_j( gamma s_ij )                                 attention, gamma = 1
    a_i             = sum_j w_ij v_j                                          what is retrieved
    z_i             = tanh LN( W_z [e_i; q_i; a_i; h_{i-1}] + b_z )           retrieved and current word combined
    [k_i; v_i; h_i] = tanh LN( W_f z_i + b_f )                                what is written to memory
    logits_i        = E h_i + b                                               next word, E tied to the embedding

Dropout follows each tanh. Only words already read are in memory. The paper's code starts memory with a zero slot
and, in training, a beginning-of-sentence word; neither is a word, so the model hides them by itself: nothing is
retrieved at the first input, the first word after BOS can see BOS alone, and every later word sees words only.
Each row of a batch is one sentence with an empty memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from psymem.errors import ModelError

ATTENTION_KINDS = ("softmax", "uniform", "none")


@dataclass(frozen=True)
class CueBasedRNNSettings:
    """Everything that defines a CBR-RNN apart from its weights.

    Parameters
    ----------
    vocabulary_size
        Number of word types, V.
    width
        Embedding and hidden width, d.
    attention
        "softmax" (the model of the paper), or an ablation: "uniform" (every memory counts alike) or "none".
    n_supertags
        Number of CCG supertags C of the auxiliary head; 0 for no head.
    tied
        Whether the output layer shares the embedding's weights.
    bos_id
        Token that, as first input, opens a sentence without being a word of it.
    dropout
        Probability of dropping a unit after each tanh, in training only.
    sharpness
        gamma, the factor on the retrieval scores (1 in all published models).
    """

    vocabulary_size: int
    width: int = 256
    attention: str = "softmax"
    n_supertags: int = 0
    tied: bool = True
    bos_id: int = 2
    dropout: float = 0.2
    sharpness: float = 1.0

    def __post_init__(self) -> None:
        """Refuse an attention kind that does not exist."""
        if self.attention not in ATTENTION_KINDS:
            raise ModelError(
                f"attention={self.attention!r} is not known; expected one of {', '.join(ATTENTION_KINDS)}."
            )


@dataclass
class CueBasedRNNOutput:
    """What the network computed for a batch of B sentences of T inputs.

    Attributes
    ----------
    hidden
        (B, T, d) h_i.
    query, key, value
        (B, T, d) each; key and value are None without attention.
    attention, attention_score
        (B, T, T): w_ij and s_ij at [b, i, j]; weight 0 and score -inf where j is not visible. None without attention.
    """

    hidden: Tensor
    query: Tensor
    key: Tensor | None
    value: Tensor | None
    attention: Tensor | None
    attention_score: Tensor | None


class CueBasedRNN(nn.Module):
    """The network of the module docstring; weights are named for what they do."""

    def __init__(self, settings: CueBasedRNNSettings) -> None:
        super().__init__()
        self.settings = settings
        d = settings.width
        retrieves = settings.attention != "none"
        self.embedding = nn.Embedding(settings.vocabulary_size, d)
        self.query = nn.Linear(2 * d, d)
        self.query_norm = nn.LayerNorm(d)
        self.mix = nn.Linear((4 if retrieves else 3) * d, 4 * d)
        self.mix_norm = nn.LayerNorm(4 * d)
        self.write = nn.Linear(4 * d, (3 if retrieves else 1) * d)
        self.write_norm = nn.LayerNorm(self.write.out_features)
        self.output = nn.Linear(d, settings.vocabulary_size)
        self.supertag = nn.Linear(d, settings.n_supertags) if settings.n_supertags else None
        self.dropout = nn.Dropout(settings.dropout)
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        nn.init.zeros_(self.output.bias)
        if settings.tied:
            self.output.weight = self.embedding.weight
        else:
            nn.init.uniform_(self.output.weight, -0.1, 0.1)

    def forward(self, tokens: Tensor) -> CueBasedRNNOutput:
        """Read a batch of sentences from an empty memory.

        Parameters
        ----------
        tokens
            (B, T) word ids; padding, if any, on the right (what follows a word cannot reach it).
        """
        embedded = self.embedding(tokens)  # (B, T, d)
        visible = visible_memories(tokens, self.settings.bos_id)  # (B, T, T)
        hidden = embedded.new_zeros(embedded.shape[0], self.settings.width)  # h_{-1} = 0
        memory = _Memory(embedded)
        steps: dict[str, list[Tensor]] = {name: [] for name in ("hidden", "query", "weights", "scores")}
        for i in range(tokens.shape[1]):
            e = embedded[:, i]
            q = self._finish(self.query_norm, self.query(torch.cat([e, hidden], -1)))
            if self.settings.attention == "none":
                mixed = torch.cat([e, q, hidden], -1)  # (B, 3d)
            else:
                retrieved, weights, scores = self._retrieve(q, memory, visible[:, i, :i])
                mixed = torch.cat([e, q, retrieved, hidden], -1)  # (B, 4d)
                steps["weights"].append(nn.functional.pad(weights, (0, tokens.shape[1] - i)))
                steps["scores"].append(nn.functional.pad(scores, (0, tokens.shape[1] - i), value=-math.inf))
            z = self._finish(self.mix_norm, self.mix(mixed))
            written = self._finish(self.write_norm, self.write(z))
            if self.settings.attention == "none":
                hidden = written
            else:
                key, value, hidden = written.chunk(3, -1)  # (B, d) each
                memory.write(key, value)
            steps["query"].append(q)
            steps["hidden"].append(hidden)
        stack = {name: torch.stack(rows, 1) for name, rows in steps.items() if rows}  # (B, T, ...) each
        remembered = memory.read() if memory.n else (None, None)
        return CueBasedRNNOutput(
            stack["hidden"],
            stack["query"],
            remembered[0],
            remembered[1],
            attention=stack.get("weights"),
            attention_score=stack.get("scores"),
        )

    def _finish(self, norm: nn.Module, projected: Tensor) -> Tensor:
        return self.dropout(torch.tanh(norm(projected)))

    def _retrieve(self, query: Tensor, memory: _Memory, visible: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return what the cue retrieves (B, d), the weights and the scores, both (B, i) over the i memories so far."""
        if not memory.n:  # an empty memory: the zero slot of the paper's code
            return torch.zeros_like(query), query.new_zeros(len(query), 0), query.new_zeros(len(query), 0)
        key, value = memory.read()  # (B, i, d) each
        if self.settings.attention == "uniform":
            scores = torch.zeros_like(key[..., 0])
        else:
            scores = torch.einsum("bd,bid->bi", query, key) / math.sqrt(self.settings.width)
        scores = scores.masked_fill(~visible, -math.inf)
        weights = torch.softmax(self.settings.sharpness * scores, -1)
        return torch.einsum("bi,bid->bd", weights, value), weights, scores

    def n_parameters(self) -> int:
        """Number of weights, shared ones once: 30 d^2 + 24 d + V d + V for the tied model of the paper."""
        return sum(p.numel() for p in self.parameters())


class _Memory:
    """Keys and values of the inputs so far.

    Without gradients each is written once, into a buffer as long as the sentences; with them they are stacked at each
    step, since what a gradient depends on may not be written to again.

    Parameters
    ----------
    like
        (B, T, d), the size of the buffers.
    """

    def __init__(self, like: Tensor) -> None:
        self.n = 0
        self.buffers = None if torch.is_grad_enabled() else (torch.empty_like(like), torch.empty_like(like))
        self.written: tuple[list[Tensor], list[Tensor]] = ([], [])

    def write(self, key: Tensor, value: Tensor) -> None:
        """Add those of one input, (B, d) each."""
        for i, new in enumerate((key, value)):
            if self.buffers is None:
                self.written[i].append(new)
            else:
                self.buffers[i][:, self.n] = new
        self.n += 1

    def read(self) -> tuple[Tensor, Tensor]:
        """Return all keys and all values, (B, n, d) each."""
        if self.buffers is None:
            return torch.stack(self.written[0], 1), torch.stack(self.written[1], 1)
        return self.buffers[0][:, : self.n], self.buffers[1][:, : self.n]


def visible_memories(tokens: Tensor, bos_id: int) -> Tensor:
    """Return (B, T, T) bool: whether input i may retrieve input j.

    Earlier inputs only; where the first input is BOS, it is visible to the second input alone.
    """
    n = tokens.shape[1]
    earlier = torch.ones(n, n, dtype=torch.bool, device=tokens.device).tril(-1)
    visible = earlier.expand(len(tokens), n, n).clone()
    visible[:, 2:, 0] &= tokens[:, :1] != bos_id
    return visible
