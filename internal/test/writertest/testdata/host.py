"""A host: does what the newer tools do with the ownership lock.

It takes the lock without waiting, and says so in owner.json.
"""

import fcntl
import socket

locks = {}


def started():
    try:
        return open("/proc/self/stat").read().rpartition(")")[2].split()[19]
    except OSError:
        return None


def announce(command, active):
    directory = command["dir"]
    owner = {
        "app": "python-host",
        "hostname": socket.gethostname(),
        "user": "u",
        "pid": os.getpid(),
        "process_start_identity": started(),
        "acquired_at": "2026-09-20T08:00:00+00:00",
        "workspace": command["workspace"],
        "session_id": command["session"],
        "active": active,
    }
    temporary = os.open(directory + "/.owner.json.x", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(temporary, json.dumps(owner, separators=(",", ":")).encode())
    os.fsync(temporary)
    os.close(temporary)
    os.rename(directory + "/.owner.json.x", directory + "/owner.json")


def take(command):
    path = command["dir"] + "/session.lock"
    if path not in locks:
        locks[path] = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(locks[path], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return {"busy": True}
    announce(command, True)


def release(command):
    announce(command, False)
    fcntl.flock(locks[command["dir"] + "/session.lock"], fcntl.LOCK_UN)


serve({"take": take, "release": release})
