"""From words and a model to SCORES, in one process or many, with runs that can be resumed."""
