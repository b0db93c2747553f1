"""What this library claims besides: batches, cards, paths, all solutions, learned guesses."""
