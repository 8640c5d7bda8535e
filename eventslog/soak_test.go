package eventslog

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var soakFlag = flag.Bool("soak", false, "let TestSoak read a log of 500 MB and a line of 1 GB, not 20 MB and 40 MB; with TEST_LONG set 40 MB and 64 MB")

// maxMemory is what reading may take beside the longest line, whatever the file.
const maxMemory = 16 << 20

// TestSoak reads a large log with huge lines in processes of their own, whose
// resident memory is measured.
func TestSoak(t *testing.T) {
	testenv.Need(t, runtime.GOOS == "linux", "resident memory is read from /proc")
	size, huge := testenv.Share[int64](3_000_000, 20_000_000, 40_000_000), testenv.Share[int64](5_000_000, 40_000_000, 64_000_000)
	if *soakFlag {
		size, huge = 500_000_000, 1_000_000_000
	}
	dir := filepath.Join(t.TempDir(), "sess")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	events := writeLarge(t, filepath.Join(dir, fileName), size, huge)
	for _, op := range slices.Sorted(maps.Keys(reads)) {
		t.Run(op, func(t *testing.T) {
			began := time.Now()
			lines := testenv.Spawn(t, "reader", dir, encoded(t, readerArgument{Dir: dir, Op: op, Events: events})).End(t)
			require.Len(t, lines, 1)
			var r reading
			require.NoError(t, json.Unmarshal([]byte(lines[0]), &r))
			fmt.Printf("%s: %.1f MiB resident, %.1f before, %.1f s\n", t.Name(), mib(r.After), mib(r.Before), time.Since(began).Seconds())
			require.Positive(t, r.Before)
			if !testing.Short() { // the race detector has memory of its own
				require.Less(t, r.After-r.Before, huge+maxMemory)
			}
		})
	}
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// writeLarge writes a log of about size bytes, most of them in lines of 2 to 8
// MB, and near its end one of huge bytes. It returns how many events it has.
func writeLarge(t *testing.T, path string, size, huge int64) (events int) {
	t.Helper()
	r := testenv.Rand(t)
	f, err := os.Create(path)
	require.NoError(t, err)
	w := bufio.NewWriterSize(f, 1<<20)
	line := func(n int64) {
		events++
		head := fmt.Sprintf(`"ts": "2026-01-01T00:00:00.%06d+00:00", "event": "e%d", "session_id": "s"`, events, events%5)
		data := func() {
			_, _ = w.WriteString(`"data": {"text": "`) // an error comes again from Flush
			text := strings.Repeat(`words, wörter, 言葉 \"quoted\"\n`, 30)
			for done := int64(0); done < n; done += int64(len(text)) {
				_, _ = w.WriteString(text)
			}
			_, _ = w.WriteString(`", "list": [1, 2.5, {"event": "no"}]}`)
		}
		_, _ = w.WriteString("{")
		if events%10 == 0 { // the head follows
			data()
			_, _ = w.WriteString(", " + head)
		} else {
			_, _ = w.WriteString(head + ", ")
			data()
		}
		_, _ = w.WriteString("}\n")
	}
	for done := int64(0); done < size; {
		n := int64(1000)
		if r.IntN(1000) == 0 {
			n = 2_000_000 + r.Int64N(6_000_000)
		}
		line(n)
		done += n
	}
	line(huge)
	for range 5 {
		line(1000)
	}
	require.NoError(t, errors.Join(w.Flush(), f.Close()))
	return events
}

// readerArgument is what a reading child is told.
type readerArgument struct {
	Dir, Op string
	Events  int // that it must find
}

// reading is the resident memory of a child, in bytes: before it read, and at
// most since then.
type reading struct{ Before, After int64 }

func readerChild(_, argument string) error {
	var a readerArgument
	if err := json.Unmarshal([]byte(argument), &a); err != nil {
		return err
	}
	l, err := Open(a.Dir, nil)
	if err != nil {
		return err
	}
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // forgets the highest
		return err
	}
	var r reading
	if r.Before, err = resident(); err != nil {
		return err
	}
	if err := reads[a.Op](context.Background(), l, a.Events); err != nil {
		return fmt.Errorf("%s: %w", a.Op, err)
	}
	if r.After, err = resident(); err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(os.Stdout).Encode(r), l.Close())
}

// resident returns the highest resident memory of the process.
func resident() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0, errors.New("no VmHWM")
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	return kib << 10, err
}

// reads read a whole log, or its end, and count the events.
var reads = map[string]func(ctx context.Context, l *Log, events int) error{
	"Heads": func(ctx context.Context, l *Log, events int) error {
		n := 0
		for _, err := range l.Heads(ctx, Cursor{}) {
			if err != nil {
				return err
			}
			n++
		}
		return counted(n, events)
	},
	"Follow": func(ctx context.Context, l *Log, events int) error {
		n := 0
		for _, err := range l.Follow(ctx, Cursor{}) {
			if err != nil {
				return err
			}
			if n++; n == events {
				break
			}
		}
		return counted(n, events)
	},
	"Summary": func(ctx context.Context, l *Log, events int) error {
		sum, err := l.Summary(ctx)
		return errors.Join(err, counted(sum.Total, events))
	},
	"Tail": func(ctx context.Context, l *Log, events int) error {
		tail, err := l.Tail(ctx, 20)
		return errors.Join(err, counted(len(tail), min(20, events)))
	},
	"Open": openLargest,
	"SliceTo": func(ctx context.Context, l *Log, events int) error {
		n, err := l.SliceTo(ctx, io.Discard, time.Now(), "", "")
		return errors.Join(err, counted(n.Events, events))
	},
	"SliceTo, new id": func(ctx context.Context, l *Log, events int) error {
		n, err := l.SliceTo(ctx, io.Discard, time.Now(), "new", "")
		return errors.Join(err, counted(n.Events, events))
	},
}

func counted(n, want int) error {
	if n != want {
		return fmt.Errorf("%d events instead of %d", n, want)
	}
	return nil
}

func openLargest(ctx context.Context, l *Log, events int) error {
	var largest Head
	for h, err := range l.Heads(ctx, Cursor{}) {
		if err != nil {
			return err
		}
		if h.Size > largest.Size {
			largest = h
		}
	}
	r, err := l.Open(ctx, largest)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, r)
	return errors.Join(err, r.Close(), counted(int(n), int(largest.Size)))
}
