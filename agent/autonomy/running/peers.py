"""Who connected to a session's socket, and whether that may be somebody who answers for the person.

Only a process of the same user, and none that a session started: what cannot be seen is refused.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import sys

from gatewright.tools.system.lifetimes import UNSEEN, child_of_a_session

_PEER_PIDFD = 77  # SO_PEERPIDFD, since Linux 6.5: the very process, whatever becomes of its id
_CRED = struct.Struct("3i")
FOREIGN = "it belongs to another user"
UNSUPPORTED = "this system does not say which process connects"
ITSELF = "it is the session itself"


def why_refused(peer: socket.socket, conversations: str) -> str:
    """Empty for who may look, and answer; `conversations` is where sessions are kept."""
    if sys.platform != "linux":
        return UNSUPPORTED
    try:
        pid, uid, _ = _CRED.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    except OSError:
        return UNSEEN
    if uid != os.geteuid():
        return FOREIGN
    if pid <= 0:  # of a namespace that is not seen from here
        return UNSEEN
    if pid == os.getpid():
        return ITSELF
    with contextlib.ExitStack() as stack:
        handle = _handle(peer)
        if handle >= 0:
            stack.callback(os.close, handle)
        why = child_of_a_session(pid, conversations, os.getpid())
        if not why and handle >= 0 and _gone(handle):
            return UNSEEN  # its id may be another's
        return why


def _gone(handle: int) -> bool:
    looks = select.poll()  # `select` cannot look at a descriptor above 1,023
    looks.register(handle, select.POLLIN)
    return bool(looks.poll(0))


def _handle(peer: socket.socket) -> int:
    """-1 where the kernel has none."""
    try:
        return peer.getsockopt(socket.SOL_SOCKET, _PEER_PIDFD)
    except OSError:
        return -1
