"""The benchmark: real servers, filled and driven side by side; each figure beside the one to reach."""
