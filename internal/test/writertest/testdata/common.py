"""What the tools share: commands, pauses, and how files are given their names.

A tool reads one JSON command from each line of its input and answers each with
one line. It pauses at random before the system calls that it makes: what Python
audits, and each piece that is copied.

usage: TOOL SEED
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

pauses = random.Random(int(sys.argv[1]))
PIECE = 512
TRANSCRIPT = "transcript.jsonl"
METADATA = "metadata.json"


def pause():
    """Pause mostly not at all, often for up to 2 ms, now and then for up to 20 ms."""
    n = pauses.randrange(20)
    if n < 1:
        time.sleep(pauses.uniform(0, 0.020))
    elif n < 6:
        time.sleep(pauses.uniform(0, 0.002))


def audit(event, args):
    if event in ("open", "os.rename", "os.utime", "os.chmod", "shutil.copyfile", "shutil.copystat"):
        pause()


sys.addaudithook(audit)

if hasattr(os, "sendfile"):
    sendfile = os.sendfile

    def in_pieces(out, source, offset, count):
        pause()
        return sendfile(out, source, offset, min(count, PIECE))

    os.sendfile = in_pieces


def backup_of(path):
    return path.with_name(path.name + ".backup")


def replace(path, content):
    """Write content to a temporary file and rename that over path."""
    with tempfile.NamedTemporaryFile(
        mode="w", encoding="utf-8", dir=path.parent, prefix=f".{path.stem}_", suffix=".tmp", delete=False
    ) as f:
        f.write(content)
        pause()
    pause()
    renaming = time.time_ns()
    os.replace(f.name, path)
    return renaming


def serve(commands):
    """Answer commands, each by the function of its name."""
    print("{}", flush=True)  # ready
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = commands[command["do"]](command) or {}
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer, ensure_ascii=False), flush=True)
