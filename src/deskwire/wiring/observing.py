"""What is done with every answered request: it is counted, and gets its line in the log."""

from deskwire.api.app import UNKNOWN_ROUTE
from deskwire.api.metrics import Metrics
from deskwire.model.tokens import Token
from deskwire.wiring.access_log import AccessLog

KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestObserver:
    def __init__(self, metrics: Metrics, access_log: AccessLog) -> None:
        self._metrics = metrics
        self._access_log = access_log

    def refused(self, status: int, request_id: str) -> None:
        """What was sent was no request, so nothing is known of it."""
        self.answered("OTHER", UNKNOWN_ROUTE, status, 0, request_id, None)

    def answered(
        self, method: str, route: str, status: int, seconds: float, request_id: str, token: Token | None
    ) -> None:
        # Whoever invents methods must not make the figures grow.
        method = method if method in KNOWN_METHODS else "OTHER"
        self._metrics.count_request(method, route, status, seconds)
        if token is None:
            self._access_log.note(request_id, method, route, status, seconds)
        else:
            self._access_log.note(
                request_id, method, route, status, seconds, token.workspace_id, token.prefix
            )
