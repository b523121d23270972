"""What things are: records, rules, codes and limits, without I/O, clock or randomness."""
