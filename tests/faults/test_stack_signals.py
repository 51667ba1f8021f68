import subprocess
import sys
from pathlib import Path

import pytest

BLOCK = """
import os, signal
from canonry.signals import Stopped, stoppable
signal.signal(signal.SIGHUP, signal.{before})
try:
    with stoppable():
        os.kill(os.getpid(), signal.{sent})
        print("goes on")
except Stopped:
    print("stopped")
"""

TWICE = """
import os, signal
from canonry.signals import Stopped, stoppable
try:
    with stoppable():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            print("cleaned up")
except Stopped:
    print("stopped")
"""

ELSEWHERE = """
import fcntl, os, signal, subprocess, threading, time
from canonry.signals import Stopped, stoppable
from canonry.supervisor import Supervisor

def get_it():
    time.sleep(0.3)  # the main thread waits by then
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

def wait_for_a_lock():
    for descriptor in [os.open("{path}", os.O_RDWR | os.O_CREAT) for _ in range(2)]:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

try:
    with stoppable():
        threading.Thread(target=get_it).start()
        {waits}
except Stopped:
    print("stopped")
"""
WAITS = {
    "for the supervisor": "Supervisor([], print).wait()",
    "for a child": "subprocess.run(['/bin/sleep', '60'])",
    "for a lock": "wait_for_a_lock()",
}
LIMIT_S = 20


def output_of(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout


@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_each_stop_signal_ends_the_block(sent: str) -> None:
    assert output_of(BLOCK.format(before="SIG_DFL", sent=sent)) == "stopped\n"


def test_nohup_is_respected() -> None:
    assert output_of(BLOCK.format(before="SIG_IGN", sent="SIGHUP")) == "goes on\n"


def test_a_second_signal_does_not_cut_the_stopping_short() -> None:
    assert output_of(TWICE) == "cleaned up\nstopped\n"


@pytest.mark.parametrize("waits", WAITS.values(), ids=WAITS.keys())
def test_a_stop_signal_that_another_thread_gets_ends_the_block(waits: str, tmp_path: Path) -> None:
    assert output_of(ELSEWHERE.format(waits=waits, path=tmp_path / "lock")) == "stopped\n"
