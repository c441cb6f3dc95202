"""Keeps a server of the tests running for someone who tries it by hand."""

import time


def until_ctrl_c(told: str) -> None:
    """Print what runs, and wait for Ctrl-C."""
    print(f"{told}; Ctrl-C ends it", flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        print("ended")
