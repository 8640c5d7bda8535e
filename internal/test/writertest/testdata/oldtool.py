"""An old tool: loads and saves a session as the reference's older version does.

It locks nothing, copies a file over its backup in place, and reads the backup
of a transcript that is missing or no JSON.
"""


def rows_of(path):
    rows = []
    with open(path, encoding="utf-8", buffering=PIECE) as f:
        for n, line in enumerate(f):
            if n % 8 == 0:
                pause()
            line = line.strip()
            if line:
                json.loads(line)
                rows.append(line)
    return rows


def load(command):
    """Return the rows, and how the transcript itself was met."""
    main = Path(command["dir"]) / TRANSCRIPT
    state = "missing"
    for path in (main, backup_of(main)):
        try:
            rows = rows_of(path)
            return {"rows": rows, "main": "whole" if path == main else state}
        except json.JSONDecodeError:
            state = "torn" if path == main else state
        except OSError:
            pass
    return {"rows": [], "main": state}


def save(command):
    """Replace a file; what it was is copied over its backup in place."""
    path = Path(command["dir"]) / command["name"]
    if path.exists():
        try:
            shutil.copy2(path, backup_of(path))
        except Exception:
            pass
    return {"renamed": replace(path, command["content"])}


serve({"load": load, "save": save})
