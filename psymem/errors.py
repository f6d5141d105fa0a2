"""Every error psymem raises on purpose, grouped by the layer it comes from.

A message says what was given, what was expected and what to do; with a file it names row and column.
The command line prints the message alone and ends with exit code 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class PsymemError(Exception):
    """Base of all errors a user can cause and mend."""


class PsymemWarning(UserWarning):
    """Something about the input that a user may not have meant; scoring goes on."""


# names -----------------------------------------------------------------------------------------------------
class UnknownNameError(PsymemError):
    """A model, measure, item set, column or other name that does not exist.

    Parameters
    ----------
    kind
        What the name should have named, in the user's words ("measure", "item set", "column").
    name
        What was given.
    known
        The names that exist.
    advice
        One more sentence about what to do, if there is something to say.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], advice: str = "") -> None:
        self.kind, self.name, self.known = kind, name, sorted(known)
        self.near = near = get_close_matches(name, self.known, n=3, cutoff=0.5)
        listed = f"Known: {', '.join(self.known)}." if self.known else "None is available."
        guess = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
        super().__init__(
            f"There is no {kind} called {name!r}.{guess} {listed}" + (f" {advice}" if advice else "")
        )


# files and tables ------------------------------------------------------------------------------------------
class DataError(PsymemError):
    """A file or table whose content is not what was expected."""


class MatlabError(PsymemError, ValueError):
    """A MATLAB file that breaks the format, or uses a part of it that is not read here."""


class StimuliError(DataError):
    """An item set that breaks its format; the message names row and column."""


class SuiteError(DataError):
    """A SyntaxGym suite, one of its prediction formulas, or a file of minimal pairs that breaks its format."""


class OutputError(PsymemError):
    """A result that could not be written (full disk, read-only folder)."""


# models ----------------------------------------------------------------------------------------------------
class ModelError(PsymemError):
    """A model that cannot do what was asked (sentence too long, no attention, ...)."""


class CheckpointError(ModelError):
    """A model directory that is missing, incomplete, corrupted or of another kind."""


class MeasureError(PsymemError):
    """A measure whose requirements the model or the words do not meet."""


class TrainingError(PsymemError):
    """Training that cannot start or go on."""


# statistics ------------------------------------------------------------------------------------------------
class FitError(PsymemError):
    """A statistical model that cannot be fitted to the table given."""


class FormulaError(FitError):
    """A formula that does not parse; the message marks the position."""


class NotNestedError(FitError):
    """Two models of which neither can be tested against the other by a likelihood ratio."""


class EngineError(FitError):
    """A fitting engine that is not installed or cannot fit this kind of model."""
