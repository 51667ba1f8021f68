import subprocess
import sys

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


def output_of(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_each_stop_signal_ends_the_block(sent: str) -> None:
    assert output_of(BLOCK.format(before="SIG_DFL", sent=sent)) == "stopped\n"


def test_nohup_is_respected() -> None:
    assert output_of(BLOCK.format(before="SIG_IGN", sent="SIGHUP")) == "goes on\n"


def test_a_second_signal_does_not_cut_the_stopping_short() -> None:
    assert output_of(TWICE) == "cleaned up\nstopped\n"
