"""The parts of `bench/compare`. Each has a function `compare(settings)` that returns the tables of the part, as `table.Comparison.measure` makes them."""
