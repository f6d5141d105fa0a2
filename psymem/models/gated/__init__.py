"""Gated recurrent networks (SRN, LSTM, GRU, ELSTM, FGP, FGL) and the networks that drive their gates."""
