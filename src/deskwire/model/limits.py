"""Every number of the specification and of the house's own choosing, once, with its unit in its name."""

PAGE_DEFAULT = 50
PAGE_MAXIMUM = 100
SEARCH_MAXIMUM = 100
SEARCH_QUERY_CHARACTERS = 200

MAX_CURSOR_CHARACTERS = 512
CURSOR_LIFETIME_US = 24 * 60 * 60 * 1_000_000
MESSAGE_WINDOW_DAYS = 30

CONTACT_NAME_CHARACTERS = 20
CONTACT_TAG_CHARACTERS = 50
CONTACT_TAGS = 100
EXTERNAL_ID_CHARACTERS = 255
CUSTOM_HOLIDAY_NAME_CHARACTERS = 40
CONTACT_EMAIL_CHARACTERS = 320
CONTACT_PHONE_CHARACTERS = 100
# A name has to fit into an index of PostgreSQL's.
CHANNEL_TAG_CHARACTERS = 255

RECORD_LINE_BYTES = 16 * 1024 * 1024
RECORD_BATCH = 1_000
RECORD_BATCH_BYTES = 2 * 1024 * 1024
BAD_LINES_SHOWN = 100
# No name, e-mail address or phone number is longer once it is folded, so nothing longer is looked for.
CONTACT_FIELD_FOLDED_CHARACTERS = 1_000

AI_FAILOVER_MINIMUM_S = 10
AI_FAILOVER_MAXIMUM_S = 300

REQUEST_ID_CHARACTERS = 64

# The names that an operator gives on the command line: of a workspace, of a token.
NAME_CHARACTERS = 255
DURATION_MAXIMUM_DAYS = 36_500

# 4 characters of mark, 8 that may be shown, 32 that are known to the holder alone.
TOKEN_CHARACTERS = 40
TOKEN_PREFIX_CHARACTERS = 12
TOKEN_CACHE_S = 0.25

# A message is found by what stands in its first part; PostgreSQL bounds how much one row can be found by.
INDEXED_CHARACTERS = 20_000
MAX_INDEXED_WORD_CHARACTERS = 64
SNIPPET_CHARACTERS = 160
SNIPPET_WORD_CHARACTERS = 20
MAX_CLUSTER_CHARACTERS = 32

ATTACHMENT_URL_LIFETIME_S = 5 * 60
MAX_DOWNLOAD_FILENAME_CHARACTERS = 120
ATTACHMENT_CHUNK_BYTES = 256 * 1024
ATTACHMENT_PART_BYTES = 5 * 1024 * 1024
ATTACHMENT_PARTS_AT_ONCE = 2
ATTACHMENT_CONNECT_TIMEOUT_S = 5
ATTACHMENT_READ_TIMEOUT_S = 30
ATTACHMENT_REQUEST_TIMEOUT_S = 300
ATTACHMENT_RETRIES = 2
ATTACHMENT_RETRY_WINDOW_S = 10

REQUEST_HEAD_MAX_BYTES = 64 * 1024
REQUEST_MAX_HEADERS = 100
REQUEST_HEAD_TIMEOUT_S = 10.0
REQUEST_BODY_GAP_TIMEOUT_S = 10.0
REQUEST_BODY_TIMEOUT_S = 60.0
PIPELINE_MAX_REQUESTS = 64
# More of a connection does not wait for the end of the loop's turn.
UNSENT_MAX_BYTES = 64 * 1024

# Longer than the 60 s after which load balancers commonly give up an idle connection: the side that sends
# requests should be the one to close, or a request crosses with the close and is lost.
KEEP_ALIVE_IDLE_S = 75.0

# A client that reads at all takes 64 KiB in this time.
ANSWER_STALL_TIMEOUT_S = 30.0
ANSWER_STALL_PROGRESS_BYTES = 64 * 1024

# A connection closed with unread bytes in it is reset, and the reset destroys the answer on its way: so for
# this long what still comes is read and dropped.
LINGER_S = 5.0
CONNECTION_CHECK_INTERVAL_S = 1.0

LISTEN_BACKLOG = 2048
ACCEPT_PAUSE_S = 0.5
SHUTDOWN_GRACE_S = 10.0

WORKER_START_ATTEMPTS = 5
WORKER_BACK_OFF_FIRST_S = 0.1
WORKER_BACK_OFF_MAX_S = 10.0

SECRET_KEY_MIN_CHARACTERS = 32

ACCESS_LOG_FLUSH_INTERVAL_S = 0.1
ACCESS_LOG_FLUSH_BYTES = 64 * 1024
ACCESS_LOG_MAX_WAITING_BYTES = 4 * 1024 * 1024
METRICS_REFRESH_S = 1.0

MAX_BODY_BYTES = 1024 * 1024
# Larger ones share a process's memory; small ones fit into it from as many requests as may be at work.
SMALL_BODY_BYTES = 32 * 1024
LARGE_BODIES_AT_ONCE_BYTES = 48 * 1024 * 1024
# Of one body; whoever sends more learns nothing from the rest.
UNKNOWN_FIELDS_SHOWN = 20
REPLY_CHARACTERS = 2_000
CLIENT_REQUEST_ID_CHARACTERS = 128
CHANNEL_TAGS = 20
CONSENT_REASON_CHARACTERS = 2_000
IDEMPOTENCY_KEY_CHARACTERS = 255
IDEMPOTENT_ANSWER_LIFETIME_US = 24 * 60 * 60 * 1_000_000
# More than are added meanwhile, so that what has expired is gone before long.
IDEMPOTENT_ANSWERS_TRIMMED = 10
AUDITED_TAGS = 50
AUDIT_ENTRIES_SHOWN = 100

RATE_WINDOW_US = 60 * 1_000_000
# Into so many parts the requests of a window are cut that processes take from one another.
RATE_PARTS = 100
# More would only wait for each other; whoever comes then is better off elsewhere or a moment later.
REQUESTS_AT_WORK = 512

WEBHOOK_NAME_CHARACTERS = 255
WEBHOOK_URL_CHARACTERS = 2048
WEBHOOK_PORTS = (443, 8443)
WEBHOOK_LOWEST_FREE_PORT = 1024
WEBHOOK_PORT_MAXIMUM = 65535
WEBHOOK_SECRET_BYTES = 32
WEBHOOK_FAILURES_TO_ERROR = 10
DELIVERY_LOGS_SHOWN = 50
# More than a webhook can have, and as far as every client's JSON counts: an offset beyond it is a mistake.
DELIVERY_LOG_OFFSET_MAXIMUM = 2**53 - 1
DELIVERY_LOG_LIFETIME_US = 30 * 24 * 60 * 60 * 1_000_000
NOTICE_LIFETIME_US = 30 * 24 * 60 * 60 * 1_000_000
# Longer than it may be sent, so that nothing is still on its way when it goes.
EVENT_LIFETIME_US = 25 * 60 * 60 * 1_000_000
# So many expired rows go in one transaction: few enough that nobody waits for it.
TRIMMED_AT_ONCE = 500
TRIM_FIRST_S = 60.0
TRIM_EVERY_S = 60 * 60.0
# From one step to the next, so that others write in between.
TRIM_PAUSE_S = 0.05
# When a URL is registered, a name that takes longer counts as one that does not resolve.
REGISTRATION_LOOKUP_S = 3.0
DELIVERY_ERROR_CHARACTERS = 500

# Of what `deskwire listen` and `deskwire verify` take, and of what the former shows and remembers.
RECEIVED_BODY_MAX_BYTES = 4 * 1024 * 1024
RECEIVED_BODY_SHOWN_LINES = 100
RECEIVED_BODY_SHOWN_CHARACTERS = 2_000
RECEIVED_EVENTS_REMEMBERED = 10_000
RECEIVER_CONNECTIONS = 64

CYCLE_ATTEMPTS = 3
# Before the second attempt of a cycle, and before the third.
CYCLE_WAITS_S = (1.0, 2.0)
CYCLE_S = 20.0
ATTEMPT_S = 10.0
# A name that takes longer would leave no time for the rest of an attempt.
RESOLUTION_S = 5.0
RESOLUTION_TRY_S = 1.5
RESOLUTION_TRIES = 3
# What receivers are asked to keep to, so that a slow one is not cut off.
ANSWER_SHOULD_S = 5
ANSWER_READ_MAX_BYTES = 64 * 1024
# What may come before the body: interim answers, status line and headers.
ANSWER_HEAD_MAX_BYTES = 64 * 1024
# So much of an answer is parsed at once, whatever has arrived.
ANSWER_PIECE_BYTES = 16 * 1024
# Shorter than receivers commonly keep an idle connection.
CONNECTION_IDLE_S = 15.0
# A receiver that closes behind an answer without saying so has none of its connections kept for so long.
UNKEPT_S = 5 * 60.0
UNKEPT_PLACES_REMEMBERED = 4_096
# Of several addresses of a receiver, the next one is tried beside the first that long after it.
NEXT_ADDRESS_AFTER_S = 0.25
RETRY_AFTER_MAXIMUM_S = 24 * 60 * 60
# From the end of one cycle to the start of the next; the last one stands for all further ones.
REQUEUE_WAITS_S = (10, 30, 60, 2 * 60, 5 * 60, 10 * 60, 30 * 60)
REQUEUE_JITTER = 0.1
DELIVERY_HORIZON_US = 24 * 60 * 60 * 1_000_000
DUPLICATE_WINDOW_US = 10 * 60 * 1_000_000
# So many are queued again in one transaction.
REDELIVERED_AT_ONCE = 1_000
NOTICE_PAUSE_US = 24 * 60 * 60 * 1_000_000

# Longer than a cycle and what recording it takes; a dead worker's deliveries wait so long for another one.
LEASE_US = 30 * 1_000_000
# A claimed delivery that could not begin by then would not end within its lease.
CLAIM_START_S = 8.0
# Leases of what must wait longer are renewed so often, and so many in one transaction.
RENEWED_EVERY_S = 2.0
RENEWED_AT_ONCE = 100
# A worker that hears of nothing looks by itself so often.
DELIVERY_POLL_S = 0.2
DELIVERIES_LOOKED_AT = 500
# For webhooks whose last delivery failed: so few that the others are looked at again soon.
AILING_LOOKED_AT = 100
DELIVERIES_AT_ONCE = 2560
# Of these, how many may go to webhooks whose last delivery failed: the others must not wait for them.
AILING_DELIVERIES_AT_ONCE = 1920
# Requests to one webhook at once: so many at first and after it gave no answer, one more with each success.
LANE_WINDOW_FIRST = 4
LANE_WINDOW_MOST = 16
# With more than this under way in all, a webhook that gave no answer yet has one at once.
DELIVERIES_CROWDED = 512
# Claimed for one webhook beyond those under way, so that none waits for the database.
LANE_CLAIMS_PER_WINDOW = 4
# What was held is sent one by one; of a larger backlog the rest begins in its order, several at once.
HELD_SENT_IN_TURN = 500
# Of one webhook, how many may rest between the attempts of their cycles, or arrived and are not yet recorded.
LANE_RESTING_MOST = 64
LANES_REMEMBERED = 10_000
# In one transaction, so that hundreds of webhooks take few, and none keeps others waiting.
WEBHOOKS_CLAIMED_FOR_AT_ONCE = 25
# Each delivery under way holds an open file, beside those of the requests.
OPEN_FILES = 16_384
# A worker that has not looked for so long is taken not to run.
DELIVERY_STALLED_S = 30.0
# A clock that went back by more than this is taken to have been set.
CLOCK_STEP_S = 5.0
# Transactions of deliveries under way at once, so that requests find a connection too.
DELIVERY_WRITES_AT_ONCE = 4
DELIVERY_READS_AT_ONCE = 3
DELIVERY_BACK_OFF_FIRST_S = 0.1
DELIVERY_BACK_OFF_MAX_S = 5.0

MAIL_WAITS_S = (60, 5 * 60, 15 * 60, 60 * 60)
MAIL_HORIZON_US = 24 * 60 * 60 * 1_000_000
MAIL_LEASE_US = 5 * 60 * 1_000_000
MAIL_POLL_S = 2.0
MAILS_AT_ONCE = 20
# For each answer of the mail server, and for a mail in all.
MAIL_ANSWER_TIMEOUT_S = 10.0
MAIL_TIMEOUT_S = 30.0
# A mail under way when the process is to stop may end within this time.
MAIL_GRACE_S = 5.0
