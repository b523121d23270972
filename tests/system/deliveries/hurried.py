"""The command line of a program in which a worker's patience is a tenth: leases of 3 s and cycles of 2 s.

So a test need not wait half a minute until the deliveries of a dead worker are taken over.
"""

from deskwire.model import limits

limits.LEASE_US //= 10
limits.CYCLE_S /= 10
limits.ATTEMPT_S /= 10
limits.CLAIM_START_S /= 10

# Only now, since who uses a limit takes it over when it is imported.
from deskwire.wiring.main import main  # noqa: E402

main()
