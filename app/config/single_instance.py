"""One running Surtitle for each user: a second start sends a command to the first.

A lock file decides which process is the first; a local socket that only this user can open carries
the commands. Remains of a crash are removed.
"""

import enum
import hashlib
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

COMMANDS = ("raise", "toggle", "pause", "clear", "lock")
_LONGEST = 64
_SILENT_MS = 3_000  # without an answer; then that is said
_PATIENCE_MS = 10_000  # the running one may be loading a model on a busy machine
_LOCK = "surtitle.lock"


class Reply(enum.Enum):
    """The outcome of a command; a stopped Surtitle runs, too, and does not obey."""

    OBEYED = enum.auto()
    NOT_OBEYED = enum.auto()
    NONE_RUNS = enum.auto()


class SingleInstance(QObject):
    """Claim to be the running instance, and receive commands.

    Signals:
        command_came(str): one of ``COMMANDS``.
    """

    command_came = Signal(str)

    def __init__(self, folder: Path) -> None:
        """Guard a data folder; instances with different folders are independent."""
        super().__init__()
        self._name = socket_name(folder)
        self._folder = folder
        self._lock = QLockFile(str(folder / _LOCK))
        self._lock.setStaleLockTime(0)  # the age of a lock does not matter
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._take_connections)

    def claim(self) -> bool:
        """Become the running instance; return False if there is one.

        In a read-only folder every instance is the first.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return True
        if not self._lock.tryLock(0) and self._lock.error() == QLockFile.LockError.LockFailedError:
            return False
        QLocalServer.removeServer(self._name)  # left by a crash: we hold the lock
        self._server.listen(self._name)
        return True

    @property
    def process_id(self) -> int:
        """The process that is the running instance; 0 if there is none or it cannot be read."""
        process_id, _host, _program = self._lock.getLockInfo()
        return process_id

    def close(self) -> None:
        self._server.close()
        self._lock.unlock()

    @Slot()
    def _take_connections(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.setParent(self)
            socket.readyRead.connect(self._take_commands)
            socket.disconnected.connect(socket.deleteLater)
            self._read(socket)

    @Slot()
    def _take_commands(self) -> None:
        socket = self.sender()
        assert isinstance(socket, QLocalSocket)
        self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            if socket.bytesAvailable() > _LONGEST:
                socket.abort()
            return
        command = bytes(socket.readLine(_LONGEST).data()).decode(errors="replace").strip()
        is_known = command in COMMANDS
        socket.write(b"done\n" if is_known else b"unknown\n")
        socket.disconnectFromServer()
        if is_known:
            self.command_came.emit(command)


def send_command(folder: Path, command: str, tell_silence: Callable[[], None]) -> Reply:
    """Send a command to the running Surtitle; return what became of it.

    Args:
        command: one of ``COMMANDS``.
        tell_silence: called once if no answer has come after some seconds; it is waited on.
    """
    socket = QLocalSocket()
    socket.connectToServer(socket_name(folder))
    if not socket.waitForConnected(_PATIENCE_MS):
        return Reply.NONE_RUNS
    socket.write(f"{command}\n".encode())
    answered = socket.waitForReadyRead(_SILENT_MS)
    if not answered:
        tell_silence()
        answered = socket.waitForReadyRead(_PATIENCE_MS - _SILENT_MS)
    answer = bytes(socket.readAll().data()) if answered else b""
    socket.abort()
    return Reply.OBEYED if answer == b"done\n" else Reply.NOT_OBEYED


def socket_name(folder: Path) -> str:
    """Return the socket name of a data folder; short, since systems allow about 100 characters."""
    return "surtitle-" + hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:16]
