"""Builds every object once; the only place that knows them all."""
