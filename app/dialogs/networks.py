"""The networks that this computer is in, of which one is chosen for sharing. IPv4 alone."""

import ipaddress
from dataclasses import dataclass

from PySide6.QtNetwork import QAbstractSocket, QNetworkInterface

from app.sharing.access import LOOPBACK

_IPV4 = QAbstractSocket.NetworkLayerProtocol.IPv4Protocol
_WIFI = QNetworkInterface.InterfaceType.Wifi


@dataclass(frozen=True, slots=True)
class Network:
    """A network and the address of this computer in it.

    Attributes:
        address: as a browser types it.
        name: of the interface, as the system has it.
    """

    address: str
    name: str = ""
    is_wireless: bool = False

    @property
    def is_private(self) -> bool:
        """Whether the address is one of a house, and not of the whole internet."""
        return ipaddress.ip_address(self.address).is_private


def networks() -> list[Network]:
    """Return the networks of this computer, wireless ones first; without its own loopback."""
    found = [
        Network(entry.ip().toString(), interface.humanReadableName(), interface.type() == _WIFI)
        for interface in QNetworkInterface.allInterfaces()
        for entry in interface.addressEntries()
        if entry.ip().protocol() == _IPV4 and not entry.ip().isLoopback()
    ]
    return sorted(found, key=lambda one: (not one.is_wireless, one.name, one.address))


def is_here(address: str) -> bool:
    return address == LOOPBACK or address in {one.address for one in networks()}
