"""Every number of the specification and of the house, once, with its unit in its name."""

from typing import Final

REQUEST_HEAD_MAX_BYTES: Final = 64 * 1024
REQUEST_MAX_HEADERS: Final = 100
REQUEST_HEAD_TIMEOUT_S: Final = 10.0
REQUEST_BODY_GAP_TIMEOUT_S: Final = 10.0
REQUEST_BODY_TIMEOUT_S: Final = 60.0
PIPELINE_MAX_REQUESTS: Final = 64

# Longer than the 60 s after which load balancers commonly give up an idle connection: the side that sends
# requests should be the one to close, or a request crosses with the close and is lost.
KEEP_ALIVE_IDLE_S: Final = 75.0

# A client that reads at all takes 64 KiB in this time.
ANSWER_STALL_TIMEOUT_S: Final = 30.0
ANSWER_STALL_PROGRESS_BYTES: Final = 64 * 1024

# A connection closed with unread bytes in it is reset, and the reset destroys the answer on its way: so for
# this long what still comes is read and dropped.
LINGER_S: Final = 5.0
CONNECTION_CHECK_INTERVAL_S: Final = 1.0

LISTEN_BACKLOG: Final = 2048
ACCEPT_PAUSE_S: Final = 0.5
SHUTDOWN_GRACE_S: Final = 10.0

WORKER_START_ATTEMPTS: Final = 5
WORKER_BACK_OFF_FIRST_S: Final = 0.1
WORKER_BACK_OFF_MAX_S: Final = 10.0

SECRET_KEY_MIN_CHARACTERS: Final = 32

ACCESS_LOG_FLUSH_INTERVAL_S: Final = 0.1
ACCESS_LOG_FLUSH_BYTES: Final = 64 * 1024
ACCESS_LOG_MAX_WAITING_BYTES: Final = 4 * 1024 * 1024
