"""The networks that this computer is in, of which one is chosen for sharing. IPv4 alone."""

import ipaddress
import socket
import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

LOOPBACK = "127.0.0.1"

_SIOCGIFCONF = 0x8912  # of Linux: the addresses of all interfaces, each with its name
_NAME_BYTES = 16
_ENTRY_BYTES = _NAME_BYTES + struct.calcsize("LLHBBB0L")  # a name, and as much as the largest value
_MOST = 256  # addresses


@dataclass(frozen=True, slots=True)
class Network:
    """A network and the address of this computer in it.

    Attributes:
        address: as a browser types it.
        name: of the interface, as the system has it; empty if it is not known.
    """

    address: str
    name: str = ""

    @property
    def is_wireless(self) -> bool:
        return self.name.lower().startswith(("wl", "wi-fi", "ath"))

    @property
    def is_private(self) -> bool:
        """Whether the address is one of a house, and not of the whole internet."""
        return ipaddress.ip_address(self.address).is_private


def networks() -> list[Network]:
    """Return the networks of this computer, wireless ones first; without its own loopback."""
    found = {one.address: one for one in _found() if not one.address.startswith("127.")}
    return sorted(found.values(), key=lambda one: (not one.is_wireless, one.name, one.address))


def is_here(address: str) -> bool:
    return address == LOOPBACK or address in {one.address for one in networks()}


def _found() -> Iterator[Network]:
    try:
        import fcntl  # noqa: PLC0415  there is none on Windows
    except ImportError:
        yield from _of_this_name()
        return
    found = array("B", bytes(_MOST * _ENTRY_BYTES))
    request = struct.pack("iP", len(found), found.buffer_info()[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            n_bytes, _ = struct.unpack("iP", fcntl.ioctl(asked, _SIOCGIFCONF, request))
        except OSError:  # another system
            yield from _of_this_name()
            return
    for at in range(0, n_bytes, _ENTRY_BYTES):
        entry = found[at : at + _ENTRY_BYTES].tobytes()
        name = entry[:_NAME_BYTES].partition(b"\0")[0].decode(errors="replace")
        start = _NAME_BYTES + 4  # behind the family and the port
        yield Network(socket.inet_ntoa(entry[start : start + 4]), name)


def _of_this_name() -> Iterator[Network]:
    try:
        known = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
    except OSError:
        return
    for *_, address in known:
        yield Network(str(address[0]))
