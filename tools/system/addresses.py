"""What stands behind an address of the network: anybody, this network, this machine, or what is
never reached. Standard library only.
"""

from __future__ import annotations

import ipaddress
from typing import Literal, TypeAlias

IpAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Kind: TypeAlias = Literal["public", "private", "loopback", "never"]

# Metadata services that answer at addresses which do not look special.
METADATA = frozenset({"169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192"})
METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data"})
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def kind_of(address: IpAddress) -> Kind:
    """What stands behind an address; "never" is link-local, metadata or no host at all."""
    if str(address) in METADATA:
        return "never"
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return kind_of(inner)
    if address.is_loopback:
        return "loopback"
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return "never"
    if isinstance(address, ipaddress.IPv4Address) and address.packed[0] == 0:
        return "never"
    return "public" if address.is_global else "private"
