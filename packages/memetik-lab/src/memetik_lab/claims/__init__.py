"""What this library claims besides: batches, devices, paths, all solutions, learned guesses."""
