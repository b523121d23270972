"""Takes connections from a listening socket, one in each turn of the loop.

Several workers share the socket. A server that takes all that wait at once leaves one worker with most of the
connections; taken one by one, they go to whoever has time."""

import asyncio
import socket
from collections.abc import Callable

from deskwire.model import limits


class Acceptor:
    def __init__(self, listener: socket.socket, make_protocol: Callable[[], asyncio.Protocol]) -> None:
        self._listener = listener
        self._make_protocol = make_protocol
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[tuple[asyncio.Transport, asyncio.Protocol]]] = set()
        self._is_closed = False
        listener.setblocking(False)
        self._open()

    def close(self) -> None:
        """What is still in the queue is left to the other workers."""
        if not self._is_closed:
            self._is_closed = True
            self._loop.remove_reader(self._listener)
            self._listener.close()

    def _open(self) -> None:
        if not self._is_closed:
            self._loop.add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # Another worker was quicker, or the client has left.
        except OSError:
            # Out of file descriptors: the queue keeps the socket readable, so look again when some are free.
            self._loop.remove_reader(self._listener)
            self._loop.call_later(limits.ACCEPT_PAUSE_S, self._open)
            return
        connection.setblocking(False)
        task = self._loop.create_task(self._loop.connect_accepted_socket(self._make_protocol, connection))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)
