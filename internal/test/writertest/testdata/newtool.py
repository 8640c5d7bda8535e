"""A new tool: reads strictly and writes under the metadata lock.

It appends in place, with a marker that tells readers to read the backup
meanwhile, and counts in the metadata. A transcript that is damaged never
becomes the backup.
"""

import contextlib
import errno
import fcntl

LOCK_LIMIT = 10.0
LOCK_PAUSE = 0.05


class SessionHistoryError(Exception):
    pass


@contextlib.contextmanager
def locked(session):
    """Hold the lock of the session's metadata, which others may have replaced."""
    path = session.parent / f".{session.name}.metadata.lock"
    end = time.monotonic() + LOCK_LIMIT
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = os.fstat(fd)
            if held.st_nlink > 0 and os.path.samestat(held, os.stat(path)):
                break
        except OSError as e:
            if e.errno not in (errno.EAGAIN, errno.EACCES, errno.ENOENT):
                os.close(fd)
                raise
        os.close(fd)
        if time.monotonic() > end:
            raise TimeoutError("the metadata lock is busy")
        time.sleep(LOCK_PAUSE)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)


def strict_value(text):
    def refuse(name):
        raise ValueError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def strict_rows(path):
    """Return the rows of a file, each a JSON object with a role; None: it is damaged."""
    rows = []
    for line in path.read_bytes().split(b"\n"):
        if not line.strip(b" \t\r\v\f"):
            continue
        try:
            value = strict_value(line.decode("utf-8-sig"))
        except ValueError:
            return None
        if not isinstance(value, dict) or not isinstance(value.get("role"), str) or not value["role"]:
            return None
        rows.append(line.decode("utf-8").strip(" \t\r\v\f"))
    return rows


def marker_of(main):
    return main.with_name(main.name + ".append-pending")


def history(main):
    """Return the rows, from the backup while the marker is there or the file is damaged."""
    paths = [backup_of(main)] if os.path.lexists(marker_of(main)) else [main, backup_of(main)]
    missing = len(paths) == 2
    for path in paths:
        try:
            rows = strict_rows(path)
        except FileNotFoundError:
            continue
        missing = False
        if rows is not None:
            return rows
    if missing:
        return []
    raise SessionHistoryError("transcript")


def load(command):
    return {"rows": history(Path(command["dir"]) / TRANSCRIPT), "main": "whole"}


def sync(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_in_place(path, content, flags):
    fd = os.open(path, os.O_WRONLY | flags, 0o600)
    try:
        os.write(fd, content)
        pause()
        os.fsync(fd)
    finally:
        os.close(fd)


def catch_up(main, content):
    """Make the backup the transcript: by what it lacks where it is a beginning of that."""
    backup = backup_of(main)
    try:
        have = backup.read_bytes()
        same = os.path.samefile(main, backup)
    except FileNotFoundError:
        have, same = None, False
    if have is not None and not same and content.startswith(have) and have.endswith(b"\n"):
        write_in_place(backup, content[len(have) :], os.O_APPEND)
        return
    fd, temporary = tempfile.mkstemp(prefix=".transcript-backup-", dir=main.parent)
    os.close(fd)
    write_in_place(temporary, content, 0)
    os.replace(temporary, backup)


def append(command):
    """Append rows in place and count them, under the lock."""
    session = Path(command["dir"])
    main = session / TRANSCRIPT
    marker = marker_of(main)
    with locked(session):
        if os.path.lexists(marker) or strict_rows(main) is None:
            save_rows(main, history(main) + command["rows"])
        else:
            content = main.read_bytes()
            if content and not content.endswith(b"\n"):
                raise SessionHistoryError("the last line has no end")
            catch_up(main, content)
            if main.read_bytes() != content:
                raise SessionHistoryError("the transcript changed")
            replace(marker, '{"version":1}\n')
            sync(marker)
            sync(session)
            for row in command["rows"]:
                write_in_place(main, (row + "\n").encode(), os.O_APPEND)
            marker.unlink()
            sync(session)
        count(session, command.get("count"))


def count(session, name):
    """Add one to a member of the metadata."""
    if not name:
        return
    path = session / METADATA
    metadata = strict_value(path.read_bytes())
    metadata[name] = metadata.get(name, 0) + 1
    shutil.copy2(path, backup_of(path))
    replace(path, json.dumps(metadata, indent=2, ensure_ascii=False))


def save_rows(main, rows):
    """Write all rows. A damaged file does not become the backup; the marker goes at the end."""
    content = "".join(row + "\n" for row in rows)
    pending = os.path.lexists(marker_of(main))
    if not pending and not main.exists():
        replace(main, content)
    elif not pending and strict_rows(main) is not None:
        shutil.copy2(main, backup_of(main))
        replace(main, content)
    elif strict_rows(backup_of(main)) is not None:
        replace(main, content)
    else:
        raise SessionHistoryError("transcript and backup are damaged")
    if pending:
        sync(main)
        marker_of(main).unlink()
        sync(main.parent)


def save(command):
    session = Path(command["dir"])
    with locked(session):
        save_rows(session / TRANSCRIPT, command["rows"])


serve({"load": load, "append": append, "save": save})
