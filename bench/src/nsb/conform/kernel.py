"""Facts about a service's sockets from the kernel. Linux only; None where the kernel does not report them."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from pathlib import Path

import psutil

# linux/sock_diag.h, linux/inet_diag.h, linux/netlink.h, linux/tcp.h
NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST_DUMP = 0x301
NLMSG_ERROR, NLMSG_DONE = 2, 3
TCP_ESTABLISHED_MASK, TCP_LISTEN_MASK = 1 << 1, 1 << 10
HEADER = struct.Struct("=IHHII")
SOCKET_ID_SIZE = 48
PIDFD_GETFD = 438  # the same number on every architecture of Linux


def backlogs(port: int) -> list[int] | None:
    """The accept queue's length of every socket that listens on this port (several with SO_REUSEPORT)."""
    # for a listening socket, wqueue is the longest queue that it allows
    return _write_queues(port, TCP_LISTEN_MASK) or None


def established(port: int) -> int | None:
    """Connections of the server on this port, including those not accepted yet; None where the kernel does not report them."""
    found = _write_queues(port, TCP_ESTABLISHED_MASK)
    return None if found is None else len(found)


def _write_queues(port: int, states: int) -> list[int] | None:
    """inet_diag's wqueue of every socket in one of the states with this local port; None where the kernel does not report it."""
    found: list[int] = []
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as netlink:
            netlink.settimeout(2)
            for family in (socket.AF_INET, socket.AF_INET6):
                found += _dump(netlink, family, states, port)
    except OSError:
        return None
    return found


def _dump(netlink: socket.socket, family: int, states: int, port: int) -> list[int]:
    # inet_diag_req_v2: family, protocol, extensions, padding, states, then an empty socket id (a dump ignores it)
    query = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 0, 0, states) + bytes(SOCKET_ID_SIZE)
    length = HEADER.size + len(query)
    netlink.sendto(HEADER.pack(length, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST_DUMP, 1, 0) + query, (0, 0))
    found: list[int] = []
    while True:
        data = netlink.recv(1 << 16)
        at = 0
        while at < len(data):
            length, kind, *_ = HEADER.unpack_from(data, at)
            if kind == NLMSG_DONE:
                return found
            if kind == NLMSG_ERROR:
                raise OSError("the kernel refused the question for sockets")
            # inet_diag_msg: 4 bytes, the socket id (its first field the source port), expires, rqueue, wqueue …
            message = at + HEADER.size
            (source_port,) = struct.unpack_from("!H", data, message + 4)
            (queue,) = struct.unpack_from("=I", data, message + 4 + SOCKET_ID_SIZE + 8)
            if source_port == port:
                found.append(queue)
            at += (length + 3) & ~3


def most_backlog() -> int:
    """net.core.somaxconn: the kernel limits every backlog to it."""
    return int(Path("/proc/sys/net/core/somaxconn").read_text())


def family_of(pid: int) -> list[psutil.Process]:
    """The process and its descendants that are alive now."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def open_files(pid: int) -> int | None:
    """How many files the process may have open (soft limit), from /proc: readable for other users' processes and for containers too."""
    try:
        lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[3]) for line in lines if line.startswith("Max open files") and line.split()[3].isdecimal()), None)


def no_delay(pid: int, port: int, client_port: int) -> bool | None:
    """Whether the service has set TCP_NODELAY on its end of the connection from client_port."""
    for process in family_of(pid):
        try:
            ends = process.net_connections(kind="tcp")
        except psutil.Error:
            continue
        for end in ends:
            if end.laddr and end.raddr and end.laddr.port == port and end.raddr.port == client_port and end.fd >= 0:
                return _no_delay_of(process.pid, end.fd)
    return None


def _no_delay_of(pid: int, number: int) -> bool | None:
    libc = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(pid)
    try:
        copy = libc.syscall(PIDFD_GETFD, process, number, 0)
    finally:
        os.close(process)
    if copy < 0:  # allowed to a parent or to root; in containers often not at all
        return None
    with socket.socket(fileno=copy) as end:
        return end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def ports_towards(pid: int, port: int) -> set[int]:
    """The local ports of established connections from the service to this port on any host."""
    found: set[int] = set()
    for process in family_of(pid):
        try:
            ends = process.net_connections(kind="tcp")
        except psutil.Error:
            continue
        found |= {
            end.laddr.port for end in ends if end.laddr and end.raddr and end.raddr.port == port and end.status == psutil.CONN_ESTABLISHED
        }
    return found
