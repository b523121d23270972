"""The command line of a program in which a worker's patience is a tenth: leases of 3 s and cycles of 2 s.

So a test need not wait half a minute until the deliveries of a dead worker are taken over.
"""

import sys

HURRIED = (
    sys.executable,
    "-P",
    "-c",
    # Who uses a limit takes it over when it is imported, so they are changed before anything else is.
    "from deskwire.model import limits\n"
    "limits.LEASE_US //= 10\n"
    "limits.CYCLE_S /= 10\n"
    "limits.ATTEMPT_S /= 10\n"
    "limits.CLAIM_START_S /= 10\n"
    "from deskwire.wiring.main import main\n"
    "main()",
)
