package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// store is one of the peers. Lines are kept in the order of their appending.
type store interface {
	fill(lines [][]byte) error // all in one transaction
	add(line []byte) error     // in a transaction of its own; by many goroutines
	lines() ([][]byte, error)  // copies
	name(ids []string) error   // names sessions, the first changed first
	names() ([]string, error)  // the last changed first
	Close() error
}

// durability is the kind of sync that an append waits for.
type durability string

const (
	synced  durability = "synced"
	normal  durability = "normal"
	relaxed durability = "relaxed"
)

var stores = map[string]func(dir string, d durability) (store, error){
	"sqlite": openSQLite, "bbolt": openBolt, "wal": openWAL,
}

// result is the line that is printed.
type result struct {
	Op     string  `json:"op"`
	N      int     `json:"n"`
	Median float64 `json:"median_s"`
	Memory float64 `json:"rss_mib"`
	P99    float64 `json:"p99_s,omitempty"`
}

var (
	errUsage = errors.New("usage: peers STORE OP N REPS [synced|normal|relaxed]; see go doc")
	errNone  = errors.New("the store cannot do that")
	errLost  = errors.New("the store does not hold what was put there")
)

func main() {
	if err := peers(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

func peers(args []string, out io.Writer) (err error) {
	if len(args) < 4 || stores[args[0]] == nil {
		return errUsage
	}
	a, errA := strconv.Atoi(args[2])
	b, errB := strconv.Atoi(args[3])
	if errA != nil || errB != nil || a < 1 || b < 1 {
		return errUsage
	}
	d := relaxed
	if len(args) > 4 {
		d = durability(args[4])
	}
	work, err := os.MkdirTemp(os.Getenv("BENCH_WORK"), "peers")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	st, err := stores[args[0]](work, d)
	if err != nil {
		return err
	}
	r := result{Op: args[1], N: a}
	if args[1] == "turns" {
		err = r.turns(st, b)
	} else {
		var took time.Duration
		took, err = measure(st, args[1], a, b)
		r.Median = took.Seconds()
	}
	if err = errors.Join(err, st.Close()); err != nil {
		return fmt.Errorf("%s %s: %w", args[0], args[1], err)
	}
	r.Memory = peakMemory()
	return json.NewEncoder(out).Encode(r)
}

func measure(st store, op string, a, b int) (time.Duration, error) {
	switch op {
	case "append":
		return appending(st, a, b)
	case "load":
		return loading(st, a, b)
	case "list":
		return listing(st, a, b)
	case "appenders":
		return flood(st, a, b)
	}
	return 0, errUsage
}

// repeat returns the median of the times that do takes.
func repeat(times int, do func() error) (time.Duration, error) {
	took := make([]time.Duration, 0, times)
	for range times {
		start := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

func appending(st store, n, times int) (time.Duration, error) {
	lines, err := messages(n)
	if err != nil {
		return 0, err
	}
	if err := st.fill(lines); err != nil {
		return 0, err
	}
	return repeat(times, func() error { return st.add(line) })
}

func loading(st store, n, times int) (time.Duration, error) {
	lines, err := messages(n)
	if err != nil {
		return 0, err
	}
	if err := st.fill(lines); err != nil {
		return 0, err
	}
	last := lines[n-1]
	return repeat(times, func() error {
		got, err := st.lines()
		if err == nil && (len(got) != n || !bytes.Equal(got[n-1], last)) {
			err = errLost
		}
		return err
	})
}

func listing(st store, n, times int) (time.Duration, error) {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(i)*2654435761, i) // in no order
	}
	if err := st.name(ids); err != nil {
		return 0, err
	}
	return repeat(times, func() error {
		got, err := st.names()
		if err == nil && (len(got) != n || got[0] != ids[n-1]) {
			err = errLost
		}
		return err
	})
}

// flood returns the time a message when g goroutines append n each.
func flood(st store, g, n int) (time.Duration, error) {
	var wait sync.WaitGroup
	errs := make([]error, g)
	start := time.Now()
	for i := range g {
		wait.Go(func() {
			for range n {
				if errs[i] = st.add(line); errs[i] != nil {
					return
				}
			}
		})
	}
	wait.Wait()
	took := time.Since(start) / time.Duration(g*n)
	return took, errors.Join(errs...)
}

// line is the appended line, of about a kilobyte.
var line = append(bytes.Repeat([]byte("The store writes a line and returns. "), 27), '\n')

// messages returns the first n lines of the transcript of n messages.
func messages(n int) ([][]byte, error) {
	data, err := os.ReadFile(filepath.Join(os.Getenv("BENCH_DATA"), "t"+strconv.Itoa(n)+".jsonl"))
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(data, []byte{'\n'})
	if len(lines) < n {
		return nil, errLost
	}
	return lines[:n], nil
}

// peakMemory returns the peak resident memory of this process in MiB, 0 where the system
// does not report it in the manner of Linux.
func peakMemory() float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		kib := 0
		if n, _ := fmt.Sscanf(lines.Text(), "VmHWM: %d kB", &kib); n == 1 {
			return float64(kib) / (1 << 10)
		}
	}
	return 0
}
