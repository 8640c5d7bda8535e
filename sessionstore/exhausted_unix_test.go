//go:build unix

package sessionstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func init() { children["exhausted"] = exhaustedChild }

// TestNoDescriptorsLeft makes calls of a process that has no more descriptors
// than a few: with each number of them a call fails at another step. The error says
// what to do, the call has written nothing, and the next one works again. A
// transcript or metadata that could not be opened is not damaged: nothing is taken
// from a backup. A session that hosts may own is never written without its lock.
func TestNoDescriptorsLeft(t *testing.T) {
	t.Parallel()
	for _, name := range testenv.Some(t, 1, sortedKeys(durabilities)...) {
		for _, of := range []string{"owned", "not owned"} {
			t.Run(name+", "+of, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "sessions")
				spawn(t, "exhausted", dir, name+","+of, t.TempDir()).End(t)
			})
		}
	}
}

// exhaustedID is the session that is tried. Hosts may own one of that id.
const exhaustedID = "session"

// exhaustedCalls are what is tried without descriptors. Each adds row, counts in
// the metadata, or reads.
var exhaustedCalls = map[string]func(ctx context.Context, st *sessionstore.Store, row sessionstore.Message, n int) (added, counted bool, rows []string, err error){
	"append": func(ctx context.Context, st *sessionstore.Store, row sessionstore.Message, _ int) (bool, bool, []string, error) {
		return true, false, nil, st.Append(ctx, exhaustedID, row)
	},
	"update": func(ctx context.Context, st *sessionstore.Store, _ sessionstore.Message, n int) (bool, bool, []string, error) {
		_, err := st.UpdateMetadata(ctx, exhaustedID, func(md *sessionstore.Metadata) error { return md.Set("n", n) })
		return false, true, nil, err
	},
	"save": func(ctx context.Context, st *sessionstore.Store, row sessionstore.Message, n int) (bool, bool, []string, error) {
		s, err := st.Load(ctx, exhaustedID)
		if err != nil {
			return true, true, nil, err
		}
		if err := s.Metadata.Set("n", n); err != nil {
			return true, true, nil, err
		}
		return true, true, nil, st.Save(ctx, exhaustedID, append(s.Messages, row), s.Metadata)
	},
	"load": func(ctx context.Context, st *sessionstore.Store, _ sessionstore.Message, _ int) (bool, bool, []string, error) {
		s, err := st.Load(ctx, exhaustedID)
		if err != nil {
			return false, false, nil, err
		}
		if s.Recovered != nil {
			return false, false, nil, fmt.Errorf("recovered from %s", s.Recovered.From)
		}
		return false, false, lines(s.Messages), nil
	},
	"strict": func(ctx context.Context, st *sessionstore.Store, _ sessionstore.Message, _ int) (bool, bool, []string, error) {
		s, _, err := st.LoadStrict(ctx, exhaustedID)
		if err != nil {
			return false, false, nil, err
		}
		return false, false, lines(s.Messages), nil
	},
	"messages": func(ctx context.Context, st *sessionstore.Store, _ sessionstore.Message, _ int) (bool, bool, []string, error) {
		rows := []string{}
		for m, err := range st.Messages(ctx, exhaustedID) {
			if err != nil {
				return false, false, nil, err
			}
			rows = append(rows, string(m.AppendTo(nil)))
		}
		return false, false, rows, nil
	},
}

func exhaustedChild(dir, argument string) error {
	durability, of, _ := strings.Cut(argument, ",")
	if err := testenv.LimitDescriptors(); err != nil {
		return err
	}
	var log bytes.Buffer
	e := exhausted{dir: dir, options: &sessionstore.Options{Durability: durabilities[durability], Logger: slog.New(slog.NewTextHandler(&log, nil))}}
	if of == "owned" {
		e.options.Workspace = filepath.Dir(dir)
	}
	for _, name := range sortedKeys(exhaustedCalls) {
		for _, fresh := range []bool{false, true} {
			for few := range 20 {
				if err := e.try(name, few, fresh); err != nil {
					return fmt.Errorf("%s with %d descriptors, fresh %v: %w", name, few, fresh, err)
				}
			}
		}
	}
	fmt.Printf("%d calls, %d failed\n", e.calls, e.failed)
	if strings.Contains(log.String(), "without its ownership lock") {
		return errors.New(log.String())
	}
	if e.failed == 0 || e.failed == e.calls {
		return errors.New("too many or too few calls failed")
	}
	return nil
}

// exhausted is a session of a process without descriptors, and what it must be.
type exhausted struct {
	dir           string
	options       *sessionstore.Options
	rows          []string
	n, made       int
	calls, failed int
}

// try makes a call with few descriptors left, of a store that is fresh or that
// has written the session, and then one with enough.
func (e *exhausted) try(name string, few int, fresh bool) error {
	ctx := context.Background()
	st, err := sessionstore.Open(e.dir, e.options)
	if err != nil {
		return err
	}
	defer st.Close()
	if fresh {
		other, err := sessionstore.Open(e.dir, e.options)
		if err != nil {
			return err
		}
		err = e.append(ctx, other)
		if err := errors.Join(err, other.Close()); err != nil {
			return err
		}
	} else if err := e.append(ctx, st); err != nil {
		return err
	}
	leave, err := testenv.TakeDescriptors(few)
	if err != nil {
		return err
	}
	e.made++
	row := numbered("row", e.made)
	m, err := sessionstore.ParseMessage([]byte(row))
	if err != nil {
		return err
	}
	added, counted, rows, failed := exhaustedCalls[name](ctx, st, m, e.made)
	leave()
	e.calls++
	if failed != nil {
		e.failed++
		var typed *sessionstore.Error
		if !errors.As(failed, &typed) || !errors.Is(failed, syscall.EMFILE) || !strings.Contains(failed.Error(), "ulimit -n") {
			return fmt.Errorf("the error is not clear: %w", failed)
		}
	}
	if failed == nil && rows != nil && !slices.Equal(rows, e.rows) {
		return fmt.Errorf("read %q, not %q", rows, e.rows)
	}
	if err := e.check(ctx, row, added, counted, failed); err != nil {
		return fmt.Errorf("%w, after %w", err, failed)
	}
	return e.append(ctx, st)
}

// append appends a row with all descriptors there.
func (e *exhausted) append(ctx context.Context, st *sessionstore.Store) error {
	e.made++
	row := numbered("row", e.made)
	m, err := sessionstore.ParseMessage([]byte(row))
	if err != nil {
		return err
	}
	if err := st.Append(ctx, exhaustedID, m); err != nil {
		return err
	}
	e.rows = append(e.rows, row)
	return nil
}

// check requires the state after a call that added and counted, or after one that failed,
// which wrote nothing.
func (e *exhausted) check(ctx context.Context, row string, added, counted bool, failed error) error {
	st, err := sessionstore.Open(e.dir, nil)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := st.Load(ctx, exhaustedID)
	if err != nil || s.Recovered != nil {
		return fmt.Errorf("load, recovered %v: %w", s.Recovered, err)
	}
	if added && failed == nil {
		e.rows = append(e.rows, row)
	}
	if counted && failed == nil {
		e.n = e.made
	}
	if rows := lines(s.Messages); !slices.Equal(rows, e.rows) {
		return fmt.Errorf("found %q, not %q", rows, e.rows)
	}
	if n, _ := s.Metadata.Int("n"); n != e.n {
		return fmt.Errorf("found n %d, not %d", n, e.n)
	}
	return nil
}
