"""Reads sessions as Python's SessionStore.load does.

Each line that comes in is a JSON list of pairs, a directory of sessions and an
id. The answer is a line with a JSON list of what load sees of each.
"""

import json
import pathlib
import sys


def rows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in map(str.strip, file) if line]


def value(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main_or_backup(path, read, neither, damaged):
    backup = path.with_name(path.name + ".backup")
    if not path.exists() and not backup.exists():
        return neither
    for name in (path, backup):
        if name.exists():
            try:
                return read(name)
            except (OSError, json.JSONDecodeError):
                pass
    return damaged


def key(content):
    if isinstance(content, list):
        content = "\n".join(block["text"] for block in content if block.get("type") == "text")
    return content.split(" ")[0] if isinstance(content, str) else ""


def load(directory, session):
    place = pathlib.Path(directory) / session
    try:
        if not place.exists():
            return {"gone": True, "number": -1}
        messages = main_or_backup(place / "transcript.jsonl", rows, [], [])
        metadata = main_or_backup(place / "metadata.json", value, {}, {})
        keys = [key(message.get("content")) for message in messages]
        return {"rows": keys, "number": metadata.get("n", -1)}
    except Exception as error:  # what load lets through, its caller meets
        return {"number": -1, "err": repr(error)[:200]}


for line in sys.stdin:
    print(json.dumps([load(*pair) for pair in json.loads(line)]), flush=True)
