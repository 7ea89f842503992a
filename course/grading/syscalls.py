"""A filter of system calls: takes away memory that counts with no process, and ways to look around.

In the form that the kernel wants, a program of Berkeley's packet filter; bubblewrap
installs it. What is refused does not exist, so that libraries do without it.
"""

from __future__ import annotations

import errno
import platform
import struct

# Of each machine: what Linux calls it, and the numbers of the system calls.
MACHINES = {
    "x86_64": (
        0xC000003E,
        {
            "shmget": 29,
            "semget": 64,
            "msgget": 68,
            "ptrace": 101,
            "mq_open": 240,
            "add_key": 248,
            "keyctl": 250,
            "perf_event_open": 298,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "memfd_create": 319,
            "bpf": 321,
            "userfaultfd": 323,
            "io_uring_setup": 425,
            "memfd_secret": 447,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "shmget": 194,
            "semget": 190,
            "msgget": 186,
            "ptrace": 117,
            "mq_open": 180,
            "add_key": 217,
            "keyctl": 219,
            "perf_event_open": 241,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "memfd_create": 279,
            "bpf": 280,
            "userfaultfd": 282,
            "io_uring_setup": 425,
            "memfd_secret": 447,
        },
    ),
}
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.ENOSYS
NUMBER, MACHINE = 0, 4  # where they stand in what is looked at
FOREIGN = 0x40000000  # numbers of another calling convention on the same machine


def filter_of(machine: str = platform.machine()) -> bytes:
    """The filter for a machine; for one that is not known here it refuses nothing."""
    if machine not in MACHINES:
        return _packed([(RETURN, 0, 0, ALLOW)])
    name, numbers = MACHINES[machine]
    refused = len(numbers) + 1  # how far it is to the refusal, which comes last
    program = [
        (LOAD, 0, 0, MACHINE),
        (EQUAL, 0, refused + 2, name),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, refused, 0, FOREIGN),
    ]
    for index, number in enumerate(numbers.values(), start=1):
        program.append((EQUAL, refused - index, 0, number))
    program += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    return _packed(program)


def _packed(program: list[tuple[int, int, int, int]]) -> bytes:
    return b"".join(struct.pack("=HBBI", *step) for step in program)
