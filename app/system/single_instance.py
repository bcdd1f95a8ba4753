"""One running Surtitle for each person: a second start, or a desktop's shortcut, reaches the first.

A lock file says who is first, also when two start at once; a local socket that only this person can
open carries the commands. What a crash left of either is taken away.
"""

import hashlib
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

COMMANDS = ("raise", "toggle", "pause", "clear", "lock")
_LONGEST = 64
_PATIENCE_MS = 10_000  # the one that runs may be loading a model on a busy machine
_LOCK = "surtitle.lock"


class SingleInstance(QObject):
    """Be the one that runs, and listen to others.

    Signals:
        command_came(str): one of ``COMMANDS``.
    """

    command_came = Signal(str)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        """Guard a data folder; programs with another one know nothing of each other."""
        super().__init__(parent)
        self._name = socket_name(folder)
        self._folder = folder
        self._lock = QLockFile(str(folder / _LOCK))
        self._lock.setStaleLockTime(0)  # stale is the lock of a process that is gone, however old
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._take_connections)

    def claim(self) -> bool:
        """Become the one that runs; False where there is one.

        Where nothing can be written nobody can be found, and everybody is the first.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return True
        if not self._lock.tryLock(0) and self._lock.error() == QLockFile.LockError.LockFailedError:
            return False
        QLocalServer.removeServer(self._name)  # of a process that crashed: we hold the lock
        self._server.listen(self._name)
        return True

    def close(self) -> None:
        """Let others be the one."""
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


def send_command(folder: Path, command: str) -> bool:
    """Tell a command to the Surtitle that runs; tell whether there is one that took it."""
    socket = QLocalSocket()
    socket.connectToServer(socket_name(folder))
    if not socket.waitForConnected(_PATIENCE_MS):
        return False
    socket.write(f"{command}\n".encode())
    answered = socket.waitForReadyRead(_PATIENCE_MS)
    answer = bytes(socket.readAll().data()) if answered else b""
    socket.abort()
    return answer == b"done\n"


def socket_name(folder: Path) -> str:
    """Name the socket of a data folder; short, since systems allow about a hundred characters."""
    return "surtitle-" + hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:16]
