"""Small models that come with psymem: weights, vocabulary and a card each."""
