"""Carries frames between two TAP devices, and does to them what tc-netem(8) does, which not every kernel has.

Usage: badLink.py DEVICE DEVICE FAULTS, as JSON: delayMs, and the percentages loss, corrupt, reorder (sent without the delay) and duplicate.
"""

import fcntl
import heapq
import json
import os
import random
import select
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x2, 0x1000
LARGEST_FRAME = 65_536
ETHERNET_HEADER = 14
IPV4 = b"\x08\x00"


def tap(name):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return device


def damaged(frame):
    """One bit behind the header of the frame is wrong. Frames of ARP stay: a wrong address would last."""
    if frame[12:14] != IPV4:
        return frame
    at = random.randrange(ETHERNET_HEADER, len(frame))
    return frame[:at] + bytes([frame[at] ^ 1 << random.randrange(8)]) + frame[at + 1 :]


def main(one, other, faults):
    def happens(fault):
        return random.random() * 100 < faults.get(fault, 0)

    ends = [tap(one), tap(other)]
    waiting = []  # (time, number, device, frame)
    number = 0
    while True:
        pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for end in select.select(ends, [], [], pause)[0]:
            frame = os.read(end, LARGEST_FRAME)
            to = ends[1 - ends.index(end)]
            for _ in range(2 if happens("duplicate") else 1):
                if happens("loss"):
                    continue
                due = time.monotonic() + (0 if happens("reorder") else faults.get("delayMs", 0) / 1_000)
                number += 1
                heapq.heappush(waiting, (due, number, to, damaged(frame) if happens("corrupt") else frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, to, frame = heapq.heappop(waiting)
            try:
                os.write(to, frame)
            except OSError:
                pass  # The device is down, or its queue is full: the frame is lost.


main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
