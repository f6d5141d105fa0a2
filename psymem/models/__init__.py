"""The mathematics of the models, each readable beside its paper, and their Hugging Face registration."""
