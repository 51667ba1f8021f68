"""The first lines of every child: drop privileges, die with the parent, become the program.

Run by path, so it imports nothing of ours: `python -I -S shim.py PARENT SIGNAL UID GID PROGRAM …`; UID -1 keeps the
account.
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1
KEEP_ACCOUNT = -1


def become(parent: int, death_signal: int, uid: int, gid: int, command: list[str]) -> None:
    """Replace this process by `command`, under another account and bound to the life of `parent`."""
    libc = ctypes.CDLL(None, use_errno=True)  # loaded first: the account may not reach the library's folder
    if uid != KEEP_ACCOUNT:
        os.setgroups([gid])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        # After the drop: a change of credentials clears the parent-death signal.
        libc.prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the parent is gone")
    os.umask(0o077)
    os.execv(command[0], command)  # noqa: S606  (no shell is the point)


if __name__ == "__main__":
    parent, death_signal, uid, gid = (int(number) for number in sys.argv[1:5])
    become(parent, death_signal, uid, gid, sys.argv[5:])
