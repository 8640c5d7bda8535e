package sessionstore

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var sweep = flag.String("faults", "", "all: fail and crash the store in every way that is known, which takes hours")

const victim = "s1" // the session that suffers

// TestFaults fails and crashes the store and looks at what is left of what it
// had acknowledged. Each group prints how many operations were failed and how
// many states of the disk were examined; all of them have to pass.
func TestFaults(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	total := new(tally)
	t.Cleanup(func() { total.print(t, "total") })
	t.Run("fail", func(t *testing.T) { failOperations(t, total, seed) })
	t.Run("crash", func(t *testing.T) { crashSequences(t, total, seed) })
}

// tally counts the operations failed and the states examined.
type tally struct{ points, lost atomic.Int64 }

func (c *tally) print(t *testing.T, name string) {
	fmt.Fprintf(t.Output(), "%s: faults: %d points, %d lost\n", name, c.points.Load(), c.lost.Load())
}

// group runs do as a subtest with a tally of its own.
func (c *tally) group(t *testing.T, name string, do func(*testing.T, *tally)) {
	t.Run(name, func(t *testing.T) {
		own := new(tally)
		t.Cleanup(func() {
			c.points.Add(own.points.Load())
			c.lost.Add(own.lost.Load())
			own.print(t, name)
		})
		do(t, own)
	})
}

// lose notes that what a test found is wrong, and stops it.
func (c *tally) lose(t *testing.T, format string, args ...any) {
	t.Helper()
	c.lost.Add(1)
	testenv.Lost(t).Fatalf(format, args...)
}

// A system is what the store runs on.
type system struct {
	name       string
	clock      time.Duration // step of the file system's clock
	noExchange bool
	noLease    bool
	ordered    bool // names reach the disk in order, as with a journal
}

var systems = []system{
	{name: "plain"},
	{name: "journal", ordered: true},
	{name: "clock=4ms", clock: 4 * time.Millisecond},
	{name: "clock=2s", clock: 2 * time.Second},
	{name: "no exchange", noExchange: true},
	{name: "no leases", noLease: true},
}

// seam returns the system with further instruments, which may be nil.
func (s system) seam(before func(seam.Op) error, after func(seam.Op)) *seam.Seam {
	return &seam.Seam{Clock: s.clock, After: after, Before: func(op seam.Op) error {
		if op.Kind == seam.Exchange && s.noExchange || op.Kind == seam.Lease && s.noLease {
			return errors.ErrUnsupported
		}
		if before == nil {
			return nil
		}
		return before(op)
	}}
}

var durabilities = map[Durability]string{Durable: "durable", Relaxed: "relaxed"}

// openFaulty opens a store of which every run writes the same bytes.
func openFaulty(t *testing.T, dir string, d Durability, seam *seam.Seam) *Store {
	t.Helper()
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	st, err := open(dir, &Options{Durability: d, Workspace: "/w", Now: func() time.Time { return now }}, seam)
	require.NoError(t, err)
	return st
}

// A look is what a session is seen to be. The zero look is no session, or one
// without content.
type look struct {
	there                  bool
	rows, metadata, config string
}

// lookAt loads the session. Damage that the store could not recover from is
// an error.
func lookAt(t *testing.T, st *Store) (look, error) {
	t.Helper()
	s, err := st.Load(t.Context(), victim)
	if errors.Is(err, ErrNotFound) {
		return look{}, nil
	}
	if err != nil {
		return look{there: true}, err
	}
	l := look{there: true, rows: string(lines(s.Messages))}
	if len(s.Metadata.members) > 0 {
		content, err := s.Metadata.file(false)
		require.NoError(t, err)
		l.metadata = string(content)
	}
	config, err := os.ReadFile(filepath.Join(st.Dir(), victim, sessiondir.Config))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return l, err
	}
	l.config = string(config)
	return l, nil
}

// between tells why l is neither of the states before and after, for each of
// the files by itself; "" when it is.
func (l look) between(before, after look) string {
	switch {
	case l.there && !before.there && !after.there:
		return "a session that is not there"
	case !l.there && before.there && after.there:
		return "no session"
	case l.rows != before.rows && l.rows != after.rows:
		return "transcript of neither"
	case l.metadata != before.metadata && l.metadata != after.metadata:
		return "metadata of neither"
	case l.config != before.config && l.config != after.config:
		return "config of neither"
	}
	return ""
}

var turnsText = regexp.MustCompile(`("turn_count": )\d+`)

// counted returns the metadata of l after an append that left these rows, each
// of which a person wrote.
func (l look) counted(rows string) string {
	return turnsText.ReplaceAllString(l.metadata, fmt.Sprint("${1}", strings.Count(rows, "\n")))
}

// diagnose tells what a failed comparison compared.
func diagnose(found, before, after look) string {
	return fmt.Sprintf("found  %+v\nbefore %+v\nafter  %+v", found, before, after)
}

// row returns a message that no other has, and more than ASCII.
func row(size int, name ...any) Message {
	text := fmt.Sprint(name...)
	return newMessage([]byte(`{"role": "user", "content": "grüße ` + text + strings.Repeat("·", size/2) + `"}`))
}

func rowsOf(n, size int, name ...any) []Message {
	all := make([]Message, n)
	for i := range all {
		all[i] = row(size, append(name, "/", i)...)
	}
	return all
}
