"""Fills the table of connections of this network namespace with connections that the kernel does not evict, and keeps it full.

As on a machine with as many clients as nf_conntrack_max allows. Prints "full" when the kernel takes no more.
"""

import errno
import socket
import struct
import time

NETLINK_NETFILTER = 12
CT_NEW = 1 << 8  # NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_NEW
CREATE = 0x1 | 0x4 | 0x400  # NLM_F_REQUEST, NLM_F_ACK, NLM_F_CREATE
NESTED = 0x8000
SEEN_REPLY_ASSURED_CONFIRMED = 0x2 | 0x4 | 0x8
TIMEOUT_SECONDS = 3_600
TCP_ESTABLISHED = 3


def attribute(kind, value):
    length = 4 + len(value)
    return struct.pack("=HH", length, kind) + value + b"\0" * (-length % 4)


def nested(kind, *attributes):
    return attribute(kind | NESTED, b"".join(attributes))


def ends(kind, source, target, source_port, target_port):
    address = nested(1, attribute(1, source), attribute(2, target))
    protocol = nested(
        2, attribute(1, b"\6"), attribute(2, struct.pack("!H", source_port)), attribute(3, struct.pack("!H", target_port))
    )
    return nested(kind, address, protocol)


def connection(number):
    """The message that creates one established TCP connection; each number is another one."""
    source = socket.inet_aton(f"198.51.{number // 60_000 // 256}.{number // 60_000 % 256}")
    target, port = socket.inet_aton("203.0.113.1"), 1_024 + number % 60_000
    body = struct.pack("=BBH", socket.AF_INET, 0, 0)
    body += ends(1, source, target, port, 80) + ends(2, target, source, 80, port)
    body += attribute(3, struct.pack("!I", SEEN_REPLY_ASSURED_CONFIRMED))
    body += nested(4, nested(1, attribute(1, bytes([TCP_ESTABLISHED]))))
    body += attribute(7, struct.pack("!I", TIMEOUT_SECONDS))
    return struct.pack("=IHHII", 16 + len(body), CT_NEW, CREATE, number, 0) + body


def main():
    netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
    number, is_full = 0, False
    while True:
        netlink.send(connection(number))
        error = -struct.unpack_from("=i", netlink.recv(4_096), 16)[0]
        if error == 0:
            number += 1
        elif error == errno.ENOMEM:
            if not is_full:
                print("full", number, flush=True)
            is_full = True
            time.sleep(0.01)
        else:
            raise OSError(error, errno.errorcode[error])


main()
