"""A loop whose time is virtual, and processes in it that die or freeze between any two steps of theirs."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from typing import Any

PROCESS: "ContextVar[Process | None]" = ContextVar("process", default=None)
TASKS_KEPT = 256


class Step:
    """One callback of a process: a task goes on until its next await."""

    __slots__ = ("args", "callback", "handle", "process")

    def __init__(self, process: "Process", callback: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.process = process
        self.callback = callback
        self.args = args
        self.handle: asyncio.Handle | None = None

    def __call__(self) -> None:
        assert self.handle is not None
        if self.process.admits(self) and not self.handle.cancelled():
            self.callback(*self.args)


class Process:
    """Tasks that live and die together. `fate` may kill or freeze it instead of its next step."""

    def __init__(self, name: str, fate: "Callable[[Process], None]") -> None:
        self.name = name
        self.is_dead = self.is_frozen = False
        self.thawed_at = float("-inf")
        self._fate = fate
        self._missed: list[Step] = []
        self._tasks: list[asyncio.Task[Any]] = []

    def admits(self, step: Step) -> bool:
        if not (self.is_dead or self.is_frozen):
            self._fate(self)
        if self.is_frozen and not self.is_dead:
            self._missed.append(step)
        return not (self.is_dead or self.is_frozen)

    def thaw(self, loop: "VirtualLoop") -> None:
        self.is_frozen = False
        self.thawed_at = loop.time()
        missed, self._missed = self._missed, []
        for step in missed:
            loop.repeat(step)

    def keep(self, task: asyncio.Task[Any]) -> None:
        """A task of the dead that were collected as garbage would run what is in its `finally`."""
        if len(self._tasks) > TASKS_KEPT:
            self._tasks = [each for each in self._tasks if not each.done()]
        self._tasks.append(task)

    def bury(self) -> None:
        self.is_dead = True
        for task in self._tasks:
            if not task.done():
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                with suppress(Exception):
                    task.get_coro().close()


class VirtualLoop(asyncio.BaseEventLoop):
    """When nothing is ready, its time jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = self
        self._now = 0.0
        self.set_task_factory(make_task)  # type: ignore[arg-type]

    def time(self) -> float:
        return self._now

    def select(self, timeout: float | None) -> list[object]:
        if timeout is None:
            raise RuntimeError("every task waits for something that will never happen")
        self._now += timeout
        return []

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        context = copy_context() if context is None else context
        process = context.get(PROCESS)
        if process is None:
            return super().call_soon(callback, *args, context=context)
        step = Step(process, callback, args)
        step.handle = super().call_soon(step, context=context)
        return step.handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        context = copy_context() if context is None else context
        process = context.get(PROCESS)
        if process is None:
            return super().call_at(when, callback, *args, context=context)
        step = Step(process, callback, args)
        step.handle = handle = super().call_at(when, step, context=context)
        return handle

    def repeat(self, step: Step) -> None:
        assert step.handle is not None
        super().call_soon(step, context=step.handle._context)  # type: ignore[attr-defined]

    def start(self, process: Process, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        context = Context()
        context.run(PROCESS.set, process)
        return context.run(self.create_task, coroutine)

    def _process_events(self, events: list[object]) -> None:
        """There are none: nothing in it touches a socket."""

    def _write_to_self(self) -> None:
        """No other thread has to wake it."""


def make_task(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any], context: Context | None = None
) -> asyncio.Task[Any]:
    task = asyncio.Task(coroutine, loop=loop, context=context)
    process = PROCESS.get() if context is None else context.get(PROCESS)
    if process is not None:
        process.keep(task)
    return task
