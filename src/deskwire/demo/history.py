"""How far back the demo reaches: the shop opens, is staffed, and then the conversations begin."""

FOUNDED_DAYS = 430
STAFFED_DAYS = 270
OLDEST_CHANNEL_DAYS = 240
LONGEST_CHANNEL_DAYS = 4
LEFT_DAYS = 90
