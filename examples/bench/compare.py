"""Runs the bench driver and the Python store in turn and prints the ratios.

    python3 compare.py --bench DRIVER --reference DIR [--rounds 3] [OPERATION ...]

DIR holds checkouts of the reference: app-cli, foundation and core. The data
folder and the scratch folder are $BENCH_DATA and $BENCH_WORK, as for the
driver. Each round measures the Python operation and then the driver's, so
that both meet the same machine; a ratio is the median over the rounds. The ratio "cpu" is that
of the times that processors worked for each process, which tells more where
the machine does other work, too. The last ratio is that of the operation to
what the system alone takes for the like, measured in the same round.
"""

import argparse
import importlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

METADATA = {
    "session_id": "bench-session",
    "created": "2026-01-05T10:00:00+00:00",
    "bundle": "bundle:foundation",
    "model": "anthropic/claude-opus",
    "turn_count": 12,
}
STAMP = "2026-01-05T10:00:00.000000+00:00"


def shell(name, path):
    """Makes a package whose own __init__ is not run: it imports what is not needed."""
    module = types.ModuleType(name)
    module.__path__ = [str(path)]
    sys.modules[name] = module
    return module


def load_reference(root):
    shell("amplifier_core", root / "core/python/amplifier_core")
    shell("amplifier_core.utils", root / "core/python/amplifier_core/utils")
    foundation = shell("amplifier_foundation", root / "foundation/amplifier_foundation")
    shell("amplifier_foundation.io", root / "foundation/amplifier_foundation/io")
    shell("amplifier_app_cli", root / "app-cli/amplifier_app_cli")
    serial = importlib.import_module("amplifier_foundation.serialization")
    files = importlib.import_module("amplifier_foundation.io.files")
    foundation.sanitize_message = serial.sanitize_message
    foundation.sanitize_for_json = serial.sanitize_for_json
    foundation.write_with_backup = files.write_with_backup
    store = importlib.import_module("amplifier_app_cli.session_store")
    session = importlib.import_module("amplifier_foundation.session")
    return store, session, serial


class Reference:
    def __init__(self, root):
        self.store, self.session, self.serial = load_reference(root)
        self.data = Path(os.environ["BENCH_DATA"])
        self.work = Path(tempfile.mkdtemp(dir=os.environ.get("BENCH_WORK")))

    def close(self):
        shutil.rmtree(self.work)

    def lay_out(self, n):
        home = self.work / "projects" / "-bench" / "sessions" / "bench-session"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        shutil.copy(self.data / f"t{n}.jsonl", home / "transcript.jsonl")
        (home / "metadata.json").write_text(json.dumps(METADATA))
        return self.store.SessionStore(home.parent), home

    def message(self, n):
        text = "The store writes a line and returns. " * 22
        return {"role": "assistant", "content": text + str(n), "timestamp": STAMP, "metadata": {"timestamp": STAMP}}

    def timed(self, reps, do):
        took, cpu = [], []
        for i in range(reps):
            worked, start = time.process_time(), time.perf_counter()
            do(i)
            took.append(time.perf_counter() - start)
            cpu.append(time.process_time() - worked)
        return statistics.median(took), statistics.median(cpu)

    def saving(self, n, reps, change=lambda rows, md, i: None):
        store, _ = self.lay_out(n)
        rows, md = store.load("bench-session")

        def do(i):
            change(rows, md, i)
            rows.append(self.message(i))
            store.save("bench-session", rows, md)

        do(0)
        return self.timed(reps, do)

    def run(self, op, n, reps):
        s = self.session
        if op in ("save", "append"):
            return self.saving(n, reps)
        if op == "savemeta":
            return self.saving(n, reps, lambda rows, md, i: md.update(turn_count=100 + i))
        if op == "rewrite":
            return self.saving(n, reps, lambda rows, md, i: rows.__setitem__(0, self.message(-i)))
        if op in ("load", "reload", "decode"):
            store, _ = self.lay_out(n)
            return self.timed(reps, lambda i: store.load("bench-session"))
        if op in ("list", "listmeta", "listmetafirst", "find"):
            return self.listing(op, n, reps)
        if op == "keyword":
            root = self.work / "all" / "projects"
            (root / "-bench").mkdir(parents=True, exist_ok=True)
            if not (root / "-bench" / "sessions").exists():
                (root / "-bench" / "sessions").symlink_to(self.data / f"base{n}")
            return self.timed(reps, lambda i: s.find_sessions(sessions_root=root, keyword="zyxwvq-nowhere"))
        if op == "summary":
            return self.timed(reps, lambda i: s.get_event_summary(self.data / n))
        if op in ("slice", "slicenew"):
            new = {} if op == "slice" else {"new_session_id": "new-session", "parent_session_id": "parent-session"}
            out = self.work / "slice.jsonl"
            return self.timed(reps, lambda i: s.slice_events_to_timestamp(self.data / n, "2126-01-01T00:00:00+00:00", out, **new))
        if op == "fork":
            _, home = self.lay_out(n)
            return self.timed(reps, lambda i: s.fork_session(home, include_events=False))
        if op == "diagnose":
            _, home = self.lay_out(n)
            return self.timed(reps, lambda i: s.diagnose_transcript(s.load_transcript_with_lines(home)))
        if op == "info":
            _, home = self.lay_out(n)
            return self.timed(reps, lambda i: s.session_info(home))
        if op == "deep":
            value = {"leaf": "value"}
            for _ in range(n):
                value = {"name": "level", "next": value}
            return self.timed(reps, lambda i: self.serial.sanitize_message({"role": "user", "content": value}))
        raise SystemExit(f"unknown operation {op}")

    def listing(self, op, n, reps):
        store = self.store.SessionStore(self.data / f"base{n}")
        if op == "list":
            return self.timed(reps, lambda i: store.list_sessions(top_level_only=False))
        if op.startswith("listmeta"):
            return self.timed(reps, lambda i: [store.get_metadata(x) for x in store.list_sessions(top_level_only=False)])
        ids = sorted(store.list_sessions())
        prefix = ids[len(ids) // 2][:-1]
        return self.timed(reps, lambda i: store.find_session(prefix))


# operation, size, durability, repetitions in Python and in the driver, goal
PLAN = [
    ("save", 10000, "durable", 3, 200, 800),
    ("save", 50000, "durable", 3, 200, 4000),
    ("save", 10000, "relaxed", 3, 1000, 25000),
    ("savemeta", 10000, "durable", 3, 100, 300),
    ("rewrite", 10000, "durable", 3, 5, 20),
    ("load", 10000, None, 3, 9, 12),
    ("reload", 10000, None, 3, 50, 40),
    ("decode", 10000, None, 3, 9, 7),
    ("list", 10000, None, 5, 9, 5),
    ("listmeta", 10000, None, 3, 5, 10),
    ("listmetafirst", 10000, None, 3, 5, 10),
    ("find", 10000, None, 5, 9, 20),
    ("keyword", 10000, None, 1, 3, 30),
    ("summary", "ev500.jsonl", None, 1, 3, 20),
    ("slice", "ev500.jsonl", None, 1, 3, 15),
    ("slicenew", "ev500.jsonl", None, 1, 3, 20),
    ("fork", 10000, None, 3, 5, 15),
    ("diagnose", 10000, None, 3, 9, 15),
    ("info", 10000, None, 3, 9, 15),
    ("deep", 20, None, 1, 100, 10000),
]


def limit_of(op, n, reps, durability):
    """What the system alone does for the like of an operation: the driver's arguments."""
    transcript = f"t{n}.jsonl"
    if op in ("save", "append", "savemeta"):
        return ["limit-append", 1, reps, durability]
    if op in ("rewrite", "fork"):
        return ["limit-copy", transcript, reps, "durable"]
    if op in ("load", "reload", "decode", "diagnose", "info"):
        return ["limit-read", transcript, reps]
    if op in ("list", "listmeta", "listmetafirst", "find"):
        return ["limit-list", n, reps]
    if op == "summary":
        return ["limit-scan", n, reps]
    if op in ("slice", "slicenew"):
        return ["limit-copy", n, reps, "relaxed"]
    return None


def driver(bench, args):
    args = [bench] + [str(x) for x in args if x is not None]
    return json.loads(subprocess.run(args, check=True, capture_output=True, text=True).stdout)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bench", required=True)
    p.add_argument("--reference", required=True, type=Path)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("operations", nargs="*")
    o = p.parse_args()
    os.environ["BENCH_CPU"] = "1"
    reference = Reference(o.reference)
    print("| operation | size | durability | Python | here | ratio | cpu | goal | system | to system | memory |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    try:
        for op, n, durability, slow, fast, goal in PLAN:
            if o.operations and op not in o.operations:
                continue
            ratios, cpu, python, go, system, far, memory = [], [], [], [], [], [], 0
            for _ in range(o.rounds):
                took, worked = reference.run(op, n, slow)
                out = driver(o.bench, [op, n, fast, durability])
                python.append(took)
                go.append(out["median_s"])
                memory = max(memory, out["rss_mib"])
                ratios.append(took / out["median_s"])
                cpu.append(worked / max(out["cpu_s"], 1e-7))
                if limit := limit_of(op, n, fast, durability):
                    system.append(driver(o.bench, limit)["median_s"])
                    far.append(out["median_s"] / system[-1])
            ms = lambda xs: f"{statistics.median(xs) * 1000:.3f} ms" if xs else ""
            median = lambda xs: f"{statistics.median(xs):,.1f}" if xs else ""
            print(f"| {op} | {n} | {durability or ''} | {ms(python)} | {ms(go)} | {median(ratios)} | {median(cpu)} | {goal:,} "
                  f"| {ms(system)} | {median(far)} | {memory:.0f} MiB |", flush=True)
    finally:
        reference.close()


if __name__ == "__main__":
    main()
