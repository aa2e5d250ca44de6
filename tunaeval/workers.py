"""Work in processes and threads: answers come in order, and few tasks are in progress at a time.

A process has one task at a time and gets its next one after its answer was taken, so that neither
side blocks in sending while the other does. The processes end with the work, whether by the last
answer, an error, Ctrl-C, or a consumer that stops; a process whose parent was killed ends by
itself. Processes are started by the method that `multiprocessing` is set to (fork, forkserver or
spawn), and what is sent to them is pickled under all of these. No process is kept between two
calls.
"""

from __future__ import annotations

import contextvars
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from tunaeval.errors import TunaevalError, UsageError

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Given = TypeVar("_Given")
_Task = TypeVar("_Task")
_Answer = TypeVar("_Answer")

_PATIENCE_SECONDS = 2.0
"""How long a process that was asked to end may take before it is killed."""


def in_a_loop() -> bool:
    """Whether an event loop runs here; what is raised later has no context of this question."""
    from asyncio import get_running_loop  # noqa: PLC0415 - as in `beside`

    with suppress(RuntimeError):
        return bool(get_running_loop())
    return False


def in_daemon(work: Callable[[], _Answer]) -> Future[_Answer]:
    """Run `work` in a new daemon thread, in a copy of the current context; return its future.

    The caller may stop waiting: the thread goes on, and does not keep the process from ending.
    """
    from concurrent.futures import Future  # noqa: PLC0415 - it imports logging, which few need

    future: Future[_Answer] = Future()
    future.set_running_or_notify_cancel()  # a wait that is cancelled must not cancel the outcome
    context = contextvars.copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - passed on to whoever waits
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def spread(
    prepare: Callable[[_Given], Callable[[_Task], _Answer]],
    given: _Given,
    tasks: Iterable[_Task],
    workers: int,
) -> Iterator[_Answer]:
    """Yield the answer to each task, in order, from up to `workers` processes. Each process calls
    `prepare(given)` once, and then the function that this returns for one task after the other. A
    single worker is this process.

    A process is started when there is a task for it. Raises what a function raises, `UsageError` if
    `given` cannot be sent to a process, `TunaevalError` if a process dies.
    """
    if workers == 1:
        yield from map(prepare(given), tasks)
        return
    if reason := why_unsendable((prepare, given)):
        raise UsageError(f"{given!r:.80} cannot be sent to another process: {reason}")
    crew: list[_Worker] = []
    busy: deque[_Worker] = deque()
    try:
        for task in tasks:
            if len(crew) < workers:
                worker = _Worker()
                crew.append(worker)
                worker.start((prepare, given))
            else:
                worker = busy.popleft()
                yield worker.answer()
            worker.give(task)
            busy.append(worker)
        while busy:
            yield busy.popleft().answer()
    finally:
        for worker in crew:
            worker.end()
        for worker in crew:
            worker.release()


def why_unsendable(thing: object) -> str | None:
    """Return why a thing cannot be sent to another process, or None if it can."""
    from multiprocessing.reduction import ForkingPickler  # noqa: PLC0415 - only if work is spread

    try:
        ForkingPickler.loads(ForkingPickler.dumps(thing))  # loading may fail, too
    except Exception as error:  # noqa: BLE001 - pickling runs the object's own code
        return f"{type(error).__name__}: {error}"
    return None


class _Worker:
    """A worker process, as its parent sees it."""

    def __init__(self) -> None:
        from multiprocessing import current_process, get_context  # noqa: PLC0415 - as above

        if current_process().daemon:
            raise UsageError(
                "a daemon process (such as one of multiprocessing.Pool) cannot start "
                "workers; use workers=1 in it"
            )
        context = get_context()
        self._method = context.get_start_method()
        self._ours, self._theirs = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=_work, args=(self._theirs,), name="tunaeval-worker", daemon=True
        )

    def start(self, setting: object) -> None:
        """Start the process with SIGINT blocked, so that Ctrl-C reaches only the parent."""
        with _interrupts_blocked():
            self._process.start()
        self._theirs.close()
        self.give(setting)

    def give(self, task: object) -> None:
        try:
            self._ours.send(task)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise self._death() from error

    def answer(self) -> Any:
        try:
            succeeded, value = self._ours.recv()
        except (EOFError, ConnectionResetError) as error:
            raise self._death() from error
        if not succeeded:
            raise value
        return value

    def end(self) -> None:
        if self._process.pid is not None:
            self._process.terminate()

    def release(self) -> None:
        if self._process.pid is not None:
            self._process.join(_PATIENCE_SECONDS)
            if self._process.is_alive():
                self._process.kill()
                self._process.join()
            self._process.close()
        self._ours.close()
        self._theirs.close()

    def _death(self) -> TunaevalError:
        self._process.join(_PATIENCE_SECONDS)
        return TunaevalError(
            f"a worker process died (exit code {self._process.exitcode}): it was killed, perhaps "
            "for want of memory, or could not start; under the start method "
            f"{self._method!r} a program that is not guarded by `if __name__ == '__main__':` "
            "runs again from its beginning in each process"
        )


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT, which a process started meanwhile inherits. Windows has no such masks."""
    if sys.platform == "win32" or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(connection: Connection[Any, Any]) -> None:
    """Run in the process: receive what makes the function, then one task after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it; a forkserver has no mask
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # not the handler that a fork inherits
    try:
        prepare, given = connection.recv()
        function = prepare(given)
        for task in _tasks(connection):
            _send_back(connection, function, task)
    except (EOFError, OSError):  # the parent is gone
        return
    except Exception as error:  # noqa: BLE001 - it is raised again in the parent
        connection.send((False, _sendable(error)))


def _tasks(connection: Connection[Any, Any]) -> Iterator[Any]:
    from multiprocessing import parent_process  # noqa: PLC0415 - as above
    from multiprocessing.connection import wait  # noqa: PLC0415 - as above

    parent = parent_process()
    lifeline = [parent.sentinel] if parent else []
    while connection in wait([connection, *lifeline]):
        yield connection.recv()


def _send_back(connection: Connection[Any, Any], function: Callable[[Any], Any], task: Any) -> None:
    try:
        answer = function(task)
    except Exception as error:  # noqa: BLE001 - it is raised again in the parent
        connection.send((False, _sendable(error)))
    else:
        connection.send((True, answer))


def _sendable(error: Exception) -> Exception:
    """Return the error with its traceback as a note; a TunaevalError if it cannot be sent."""
    from traceback import format_exc  # noqa: PLC0415 - as above

    reported = f"in a worker process:\n{format_exc()}"
    if why_unsendable(error):
        nearest = UsageError if isinstance(error, UsageError) else TunaevalError
        error = nearest(f"{type(error).__name__}: {error}")
    error.add_note(reported)
    return error


async def beside(work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Call `work` in a thread of its own and await its result; a cancellation abandons it."""
    import asyncio  # noqa: PLC0415 - who works in processes needs none

    def done() -> tuple[_T | None, BaseException | None]:
        try:
            return work(*args, **kwargs), None
        except BaseException as error:  # noqa: BLE001 - raised again below
            return None, RuntimeError(repr(error)) if isinstance(error, StopIteration) else error

    value, error = await asyncio.wrap_future(in_daemon(done))
    if error is not None:
        raise error from None
    return cast("_T", value)
