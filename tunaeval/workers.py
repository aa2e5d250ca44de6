"""Work spread over processes: answers in order, a bounded amount under way, all of it released.

A process has one task at a time and is given its next when its answer was taken, so neither side
ever waits to be heard while it speaks. Whatever ends the work (the last answer, an error, Ctrl-C, a
consumer that stops asking) ends the processes; and one whose parent was killed ends by itself.

Processes are started as `multiprocessing` is set to (fork, forkserver or spawn), and whatever they
are given is pickled under all of these. Nothing is kept between two calls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tunaeval.errors import TunaevalError, UsageError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

_Given = TypeVar("_Given")
_Task = TypeVar("_Task")
_Answer = TypeVar("_Answer")

_PATIENCE_SECONDS = 2.0
"""How long a process that was asked to end may take before it is killed."""


def spread(
    prepare: Callable[[_Given], Callable[[_Task], _Answer]],
    given: _Given,
    tasks: Iterable[_Task],
    workers: int,
) -> Iterator[_Answer]:
    """The answer to each task, in order. Each process calls `prepare(given)` once for its function.

    At most `workers` tasks are under way; a process is started when there is a task for it. What a
    function raises is raised here. Raises `UsageError` when `given` cannot be sent, and
    `TunaevalError` when a process dies.
    """
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
            worker.tell(task)
            busy.append(worker)
        while busy:
            yield busy.popleft().answer()
    finally:
        for worker in crew:
            worker.end()
        for worker in crew:
            worker.release()


def why_unsendable(thing: object) -> str | None:
    """Why a thing cannot be sent to another process; None if it can."""
    from multiprocessing.reduction import ForkingPickler  # noqa: PLC0415 - for those who spread

    try:
        ForkingPickler.loads(ForkingPickler.dumps(thing))  # both ways, as not all come back
    except Exception as error:  # noqa: BLE001 - pickling runs the code of whatever is pickled
        return f"{type(error).__name__}: {error}"
    return None


class _Worker:
    """One process, as its parent sees it."""

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
        """Start it with Ctrl-C held back, so that one while it starts is ours alone."""
        with _held_interrupts():
            self._process.start()
        self._theirs.close()
        self.tell(setting)

    def tell(self, task: object) -> None:
        try:
            self._ours.send(task)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise self._death() from error

    def answer(self) -> Any:
        try:
            answered, said = self._ours.recv()
        except (EOFError, ConnectionResetError) as error:
            raise self._death() from error
        if not answered:
            raise said
        return said

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
            "starts all over in each of its processes"
        )


@contextmanager
def _held_interrupts() -> Iterator[None]:
    """Within this, SIGINT waits; a process that is started inherits that where there are masks."""
    import signal  # noqa: PLC0415 - as above

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(connection: Connection[Any, Any]) -> None:
    """The life of a process: what it is given, then a task after the other."""
    import signal  # noqa: PLC0415 - as above

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us; a forkserver has no mask
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a handler forked from the parent is not ours
    try:
        prepare, given = connection.recv()
        function = prepare(given)
        for task in _tasks(connection):
            _tell(connection, function, task)
    except (EOFError, OSError):  # the parent has gone
        return
    except Exception as error:  # noqa: BLE001 - whatever it is, it is raised in the parent
        connection.send((False, _sendable(error)))


def _tasks(connection: Connection[Any, Any]) -> Iterator[Any]:
    from multiprocessing import parent_process  # noqa: PLC0415 - as above
    from multiprocessing.connection import wait  # noqa: PLC0415 - as above

    parent = parent_process()
    lifeline = [parent.sentinel] if parent else []
    while connection in wait([connection, *lifeline]):
        yield connection.recv()


def _tell(connection: Connection[Any, Any], function: Callable[[Any], Any], task: Any) -> None:
    try:
        answer = function(task)
    except Exception as error:  # noqa: BLE001 - raised in the parent, as it would have been there
        connection.send((False, _sendable(error)))
    else:
        connection.send((True, answer))


def _sendable(error: Exception) -> Exception:
    """The error with where it came from; one that cannot be sent as the nearest of ours."""
    from traceback import format_exc  # noqa: PLC0415 - as above

    reported = f"in a worker process:\n{format_exc()}"
    if why_unsendable(error):
        nearest = UsageError if isinstance(error, UsageError) else TunaevalError
        error = nearest(f"{type(error).__name__}: {error}")
    error.add_note(reported)
    return error
