"""A receiver of webhooks that takes or refuses what comes, and knows how often each event came."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.system.operators import Client

TAKEN, REFUSED = 204, 503


class Arrivals:
    """Events by the text of the message that they tell of: those it took, and those it refused."""

    def __init__(self) -> None:
        self.status = TAKEN
        self.taken: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.port = 0

    def note(self, body: bytes) -> int:
        status = self.status
        text = json.loads(body)["data"]["content"]
        (self.taken if status == TAKEN else self.refused)[text] += 1
        return status

    @property
    def settings(self) -> dict[str, str]:
        return {"DESKWIRE_WEBHOOK_ALLOW": f"127.0.0.1:{self.port}"}

    def subscribe(self, client: Client) -> None:
        webhook = {
            "name": "Receiver",
            "url": f"http://127.0.0.1:{self.port}/",
            "event_filters": ["message.created"],
        }
        assert client.post("/outbound-webhooks", webhook).status == 201


@contextmanager
def receiving() -> Iterator[Arrivals]:
    arrivals = Arrivals()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(arrivals.note(body))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            """What comes is counted, and that is enough."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A desk that is killed leaves in the middle of a request."""

    with Server(("127.0.0.1", 0), Handler) as server:
        arrivals.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield arrivals
        finally:
            server.shutdown()
            thread.join()
