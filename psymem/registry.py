"""Names that users type, and the code behind them, loaded on first use.

Adding a model, measure, engine or reader is one new file and one row here. Listing names imports nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from psymem.errors import UnknownNameError


class Registry:
    """A table from a name to ``"module:attribute"``.

    Parameters
    ----------
    kind
        What the names name, in the user's words; used in error messages.
    rows
        Name to import location.
    """

    def __init__(self, kind: str, rows: Mapping[str, str]) -> None:
        self.kind, self._rows = kind, dict(rows)

    def names(self) -> list[str]:
        """All names, in the order of the table."""
        return list(self._rows)

    def __contains__(self, name: str) -> bool:
        return name in self._rows

    def load(self, name: str) -> Any:
        """Import and return what `name` stands for.

        Raises
        ------
        UnknownNameError
            If the name is not in the table; near names are offered.
        """
        if name not in self._rows:
            raise UnknownNameError(self.kind, name, self._rows)
        module, attribute = self._rows[name].split(":")
        return getattr(import_module(module), attribute)


MEASURES = Registry(
    "measure",
    {
        "surprisal": "psymem.measures.surprisal:Surprisal",
        "relative-attention": "psymem.measures.attention:RelativeAttention",
        "attention-entropy": "psymem.measures.attention:AttentionEntropy",
        "entropy": "psymem.measures.entropy:Entropy",
        "entropy-reduction": "psymem.measures.entropy:EntropyReduction",
        "normalised-attention-entropy": "psymem.measures.token_attention:NormalisedAttentionEntropy",
        "attention-entropy-change": "psymem.measures.token_attention:AttentionEntropyChange",
        "attention-shift": "psymem.measures.token_attention:AttentionShift",
        "attention-transport": "psymem.measures.token_attention:AttentionTransport",
        "surprisal-uncorrected": "psymem.measures.surprisal:UncorrectedSurprisal",
        "n-tokens": "psymem.measures.tokens:NTokens",
        "context-length": "psymem.measures.tokens:ContextLength",
        "model-fixations": "psymem.measures.model_fixations:ModelFixations",
        "layers-active": "psymem.measures.model_fixations:LayersActive",
        "memory-response": "psymem.measures.memory_response:MemoryResponse",
        "memory-half-life": "psymem.measures.memory_response:MemoryHalfLife",
        "memory-response-linearised": "psymem.measures.memory_response_linearised:LinearisedMemoryResponse",
    },
)

BACKENDS = Registry(
    "kind of model",
    {
        "recurrent": "psymem.backends.recurrent:RecurrentBackend",
        "pretrained": "psymem.backends.pretrained:PretrainedBackend",
        "toy": "psymem.backends.toy:ToyBackend",
    },
)

ARCHITECTURES = Registry(
    "model architecture",
    {
        "psymem-cbr-rnn": "psymem.models.cbr_rnn_architecture:ARCHITECTURE",
        "psymem-gated-rnn": "psymem.models.gated.architecture:ARCHITECTURE",
    },
)

ENGINES = Registry(
    "fitting engine",
    {
        "profiled": "psymem.fitting.profiled.engine:fit_profiled",
        "statsmodels": "psymem.fitting.engines.statsmodels:fit_statsmodels",
        "lme4": "psymem.fitting.engines.lme4:fit_lme4",
        "mixedlm": "psymem.fitting.engines.mixedlm:fit_mixedlm",
    },
)

STUDY_KINDS = Registry(
    "kind of study",
    {
        "factorial": "psymem.studies.attraction.from_file:FACTORIAL",
        "reading": "psymem.studies.reading.from_file:READING",
        "fixations": "psymem.studies.fixations.from_file:FIXATIONS",
    },
)

CORPORA = Registry(
    "corpus",
    {
        "provo": "psymem.data.readers.provo:read",
        "natural-stories": "psymem.data.readers.natural_stories:read",
        "ucl": "psymem.data.readers.ucl:read",
        "ucl-self-paced": "psymem.data.readers.ucl:read_self_paced",
        "iitb": "psymem.data.readers.iitb:read",
        "cmcl": "psymem.data.readers.cmcl:read",
        "eyelink": "psymem.data.readers.eyelink:read",
        "csv": "psymem.data.readers.csv_corpus:read",
        "dundee": "psymem.data.readers.dundee:read",
        "geco": "psymem.data.readers.geco:read",
        "zuco1": "psymem.data.readers.zuco:read_zuco1",
        "zuco2": "psymem.data.readers.zuco:read_zuco2",
    },
)
