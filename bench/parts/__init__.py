"""The parts of `bench/compare` and `bench/run`. Each has a function `compare(settings)` that returns the tables of the part, as `Comparison.measure` and `listed` of `table` make them."""
