package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// rounds is the number of times that a comparison runs; the median of each figure counts.
const rounds = 3

// rival is one measurement of a comparison.
type rival struct {
	name string   // of the line
	peer bool     // measured by the program peers
	args []string // of the program
}

// comparison lists the measurements for N messages or sessions, REPS times. Measurements to
// compare are neighbours in the list, so that they run under the same load.
func comparison(n, reps string) (list []rival) {
	ours := func(name string, args ...string) { list = append(list, rival{name, false, args}) }
	theirs := func(name string, args ...string) { list = append(list, rival{name, true, args}) }
	ours("append-durable", "append", n, reps, "durable")
	for _, peer := range [...]string{"sqlite", "bbolt", "wal"} {
		theirs("append-synced-"+peer, peer, "append", n, reps, "synced")
	}
	ours("append-durable-limit", "limit-append", "1", reps, "durable")
	ours("append-relaxed", "append", n, reps, "relaxed")
	ours("append-relaxed-events", "appenders", "1", n, "relaxed")
	theirs("append-normal-sqlite", "sqlite", "append", n, reps, "normal")
	for _, peer := range [...]string{"sqlite", "bbolt", "wal"} {
		theirs("append-relaxed-"+peer, peer, "append", n, reps, "relaxed")
	}
	ours("append-relaxed-limit", "limit-append", "1", reps, "relaxed")
	ours("load", "load", n, reps)
	for _, peer := range [...]string{"sqlite", "bbolt", "wal"} {
		theirs("load-"+peer, peer, "load", n, reps)
	}
	ours("list", "list", n, reps)
	for _, peer := range [...]string{"sqlite", "bbolt"} {
		theirs("list-"+peer, peer, "list", n, reps)
	}
	ours("appenders-64", "appenders", "64", reps, "durable")
	ours("appenders-1", "appenders", "1", reps, "durable")
	for _, peer := range [...]string{"sqlite", "bbolt", "wal"} {
		theirs("appenders-64-"+peer, peer, "appenders", "64", reps, "synced")
	}
	return list
}

// comparePeers runs the whole comparison and prints a line for each figure.
func comparePeers(r *run) error {
	if _, _, err := r.sizes(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	peers, err := r.peersProgram()
	if err != nil {
		return err
	}
	list := comparison(r.args[0], r.args[1])
	found := make([][]result, len(list))
	for range rounds {
		for i, c := range list {
			program := self
			if c.peer {
				program = peers
			}
			one, err := measured(program, c.args)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			one.Op = c.name
			found[i] = append(found[i], one)
		}
	}
	for _, all := range found {
		slices.SortFunc(all, func(a, b result) int { return int(max(-1, min(1, (a.Median-b.Median)*1e12))) })
		if err := json.NewEncoder(r.out).Encode(all[len(all)/2]); err != nil {
			return err
		}
	}
	return nil
}

// measured runs a program that prints one result, with more in its environment.
func measured(program string, args []string, env ...string) (one result, err error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(context.Background(), program, args...)
	c.Stdout, c.Stderr, c.Env = &out, &errs, append(os.Environ(), env...)
	if err := c.Run(); err != nil {
		return one, fmt.Errorf("%w: %s", err, strings.TrimSpace(errs.String()))
	}
	return one, json.Unmarshal(out.Bytes(), &one)
}

// peersProgram returns the path of the program peers: $BENCH_PEERS, or a program built from
// the sources beside this program's, below the working directory.
func (r *run) peersProgram() (string, error) {
	if path := os.Getenv("BENCH_PEERS"); path != "" {
		return exec.LookPath(path)
	}
	for _, folder := range [...]string{"peers", "examples/bench/peers"} {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err != nil {
			continue
		}
		path := filepath.Join(r.work, "peers.exe")
		build := exec.CommandContext(context.Background(), "go", "build", "-o", path, ".")
		build.Dir = folder
		build.Stderr = os.Stderr
		return path, build.Run()
	}
	return "", errors.New("the program peers is not here: name it in $BENCH_PEERS")
}
