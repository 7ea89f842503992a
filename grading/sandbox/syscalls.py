"""A filter of system calls (seccomp), as a BPF program.

It refuses calls that allocate memory not charged to any process, that inspect the system or
other processes, and that lower a process's priority: the clock of a submission does not count
the time in which others compute.

bubblewrap or the zygote installs it. Refused calls fail as if they did not exist (ENOSYS), so
that libraries do without them.
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

from project.errors import CourseError


@dataclass(frozen=True)
class Machine:
    """Linux's identifier of an architecture, and its system call numbers.

    Args:
        name: the identifier, as the filter sees it.
        refused: the numbers of the calls that are always refused.
        mmap, socket, scheduler: the numbers of calls of which some uses are refused.
    """

    name: int
    refused: dict[str, int]
    mmap: int
    socket: int
    scheduler: int


# System calls added since Linux 5.1 have the same number on every architecture.
NEWER = {
    "io_uring_setup": 425,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "mount_setattr": 442,
    "memfd_secret": 447,
    "process_mrelease": 448,
}
MACHINES = {
    "x86_64": Machine(
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
            "setpriority": 141,
            "sched_setparam": 142,
            "ioprio_set": 251,
            "kcmp": 312,
            "sched_setattr": 314,
            **NEWER,
        },
        mmap=9,
        socket=41,
        scheduler=144,
    ),
    "aarch64": Machine(
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
            "ioprio_set": 30,
            "sched_setparam": 118,
            "setpriority": 140,
            "kcmp": 272,
            "sched_setattr": 274,
            **NEWER,
        },
        mmap=222,
        socket=198,
        scheduler=119,
    ),
}
LOAD, MASK, EQUAL, AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.ENOSYS
NUMBER, MACHINE = 0, 4  # offsets in struct seccomp_data
FIRST, SECOND, FOURTH = 16, 24, 40  # offsets of the arguments' lower halves
FOREIGN = 0x40000000  # numbers from here on use another calling convention (x32)
SHARED = 0x01 | 0x20  # shared and anonymous: memory not charged to any process
FAMILIES = (1, 2, 10, 16)  # of sockets: Unix, IPv4, IPv6, netlink


def filter_of(machine: str = platform.machine()) -> bytes:
    """The filter for an architecture, named as by ``platform.machine()``.

    Raises:
        CourseError: its system call numbers are not known here.
    """
    if machine not in MACHINES:
        raise CourseError(
            machine,
            None,
            "There is no filter of system calls for this processor.",
            f"Grade on a machine with {' or '.join(MACHINES)}, or with --no-sandbox work that "
            "you trust: its code can then read and change whatever you can.",
        )
    known = MACHINES[machine]
    refusal = [(RETURN, 0, 0, REFUSE)]
    sockets = [
        (LOAD, 0, 0, FIRST),
        *((EQUAL, len(FAMILIES) - i, 0, f) for i, f in enumerate(FAMILIES)),
        *refusal,
        (RETURN, 0, 0, ALLOW),
    ]
    # ZeroMQ sets the default policy, which its threads already have, and aborts if it may not.
    scheduling = [
        (LOAD, 0, 0, SECOND),
        (EQUAL, 1, 0, 0),
        *refusal,
        (RETURN, 0, 0, ALLOW),
    ]
    mapping = [
        (LOAD, 0, 0, FOURTH),
        (MASK, 0, 0, SHARED),
        (EQUAL, 0, 1, SHARED),
        *refusal,
        (RETURN, 0, 0, ALLOW),
    ]
    # An offset of 0 goes on to the next instruction; each refusal directly follows its test.
    program = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, known.name), *refusal]
    program += [(LOAD, 0, 0, NUMBER), (AT_LEAST, 0, 1, FOREIGN), *refusal]
    for number in known.refused.values():
        program += [(EQUAL, 0, 1, number), *refusal]
    program += [(EQUAL, 0, len(mapping), known.mmap), *mapping]
    program += [(EQUAL, 0, len(sockets), known.socket), *sockets]
    program += [(EQUAL, 0, len(scheduling), known.scheduler), *scheduling]
    return _packed([*program, (RETURN, 0, 0, ALLOW)])


def _packed(program: list[tuple[int, int, int, int]]) -> bytes:
    return b"".join(struct.pack("=HBBI", *step) for step in program)
