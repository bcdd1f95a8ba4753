"""The networks that this computer is in, of which one is chosen for sharing. IPv4 alone."""

import ipaddress
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

LOOPBACK = "127.0.0.1"

_SIOCGIFADDR = 0x8915  # of Linux: the address of an interface
_NAME_BYTES = 15


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
        """Whether the name is one of a wireless interface."""
        return self.name.lower().startswith(("wl", "wi-fi", "ath"))

    @property
    def is_private(self) -> bool:
        """Whether the address is one of a house, and not of the whole internet."""
        return ipaddress.ip_address(self.address).is_private


def networks() -> list[Network]:
    """Return the networks of this computer, wireless ones first; without its own loopback."""
    found = {one.address: one for one in _found() if not one.address.startswith("127.")}
    return sorted(found.values(), key=lambda one: (not one.is_wireless, one.name, one.address))


def _found() -> Iterator[Network]:
    try:
        import fcntl  # noqa: PLC0415  there is none on Windows
    except ImportError:
        yield from _of_this_name()
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:_NAME_BYTES])
            try:
                answer = fcntl.ioctl(asked, _SIOCGIFADDR, request)
            except OSError:
                continue  # it has none
            yield Network(socket.inet_ntoa(answer[20:24]), name)


def _of_this_name() -> Iterator[Network]:
    try:
        known = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
    except OSError:
        return
    for *_, address in known:
        yield Network(str(address[0]))
