package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// operations are the measurements by name. Each prepares its data and passes the timed part
// to [run.time].
var operations = map[string]func(*run) error{
	"save": save, "savemeta": saveMeta, "append": appendOne, "rewrite": rewrite,
	"load": load, "reload": reload, "decode": decode,
	"list": list, "listmeta": listMeta, "listmetafirst": listMetaFirst, "find": find, "keyword": keyword,
	"summaries": summaries, "summariesfirst": summariesFirst, "summariesone": summariesOne, "summariesrows": summariesRows,
	"summary": summary, "at": at, "slice": sliceSame, "slicenew": sliceNew,
	"fork": fork, "diagnose": diagnose, "info": info,
	"deep":         deep,
	"limit-append": limitAppend, "limit-copy": limitCopy, "limit-read": limitRead, "limit-scan": limitScan, "limit-list": limitList,
}

// result is a line of the output.
type result struct {
	Op     string  `json:"op"`
	N      int     `json:"n"`
	Median float64 `json:"median_s"`
	Memory float64 `json:"rss_mib"`
	CPU    float64 `json:"cpu_s,omitempty"` // with BENCH_CPU
}

// run is one measurement.
type run struct {
	args []string // behind the operation
	out  io.Writer
	work string // a directory for this run alone
	n    int
	took []time.Duration
	cpu  []time.Duration // how long processors worked for each
}

var errUsage = errors.New("usage: bench OP ARGUMENTS; see go doc ./examples/bench")

func main() {
	if err := bench(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

func bench(args []string, out io.Writer) (err error) {
	if len(args) == 0 || operations[args[0]] == nil {
		return errUsage
	}
	work := os.Getenv("BENCH_WORK")
	if work != "" {
		if err := os.MkdirAll(work, 0o700); err != nil {
			return err
		}
	}
	work, err = os.MkdirTemp(work, "bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	r := &run{args: args[1:], out: out, work: work}
	if err := operations[args[0]](r); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	line := result{args[0], r.n, median(r.took).Seconds(), peakMemory(), 0}
	if os.Getenv("BENCH_CPU") != "" {
		line.CPU = median(r.cpu).Seconds()
	}
	return json.NewEncoder(out).Encode(line)
}

// time adds the duration of do.
func (r *run) time(do func() error) error {
	cpu, start := processorTime(), time.Now()
	err := do()
	r.took = append(r.took, time.Since(start))
	r.cpu = append(r.cpu, processorTime()-cpu)
	return err
}

// repeat runs do so many times and times each.
func (r *run) repeat(times int, do func() error) error {
	for range times {
		if err := r.time(do); err != nil {
			return err
		}
	}
	return nil
}

// number returns the argument at i, a number from 1.
func (r *run) number(i int) (int, error) {
	if i >= len(r.args) {
		return 0, errUsage
	}
	n, err := strconv.Atoi(r.args[i])
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%w: %q is no number from 1", errUsage, r.args[i])
	}
	return n, nil
}

// sizes returns the arguments N REPS.
func (r *run) sizes() (n, times int, err error) {
	if n, err = r.number(0); err == nil {
		times, err = r.number(1)
	}
	r.n = n
	return n, times, err
}

// data returns the path of something in the data folder; any other path stays.
func data(name string) string {
	if folder := os.Getenv("BENCH_DATA"); folder != "" && !filepath.IsAbs(name) {
		return filepath.Join(folder, name)
	}
	return name
}

func median(took []time.Duration) time.Duration {
	slices.Sort(took)
	if n := len(took); n%2 == 0 {
		return (took[n/2-1] + took[n/2]) / 2
	}
	return took[len(took)/2]
}
