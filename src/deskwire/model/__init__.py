"""What things are: records, rules, codes, limits. No I/O, no clock, no randomness."""
