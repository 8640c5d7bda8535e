//go:build linux && !race

package peers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// durability is the kind of sync that an append waits for.
type durability string

const (
	synced  durability = "synced"
	relaxed durability = "relaxed"
)

// store is one of the stores. Lines are kept in the order of their appending.
type store interface {
	fill(lines [][]byte) error // all in one transaction
	add(line []byte) error     // in a transaction of its own
	event(line []byte) error   // the same, by many goroutines
	lines() ([][]byte, error)  // copies
	name(ids []string) error   // names sessions, the first changed first
	names() ([]string, error)  // the last changed first
	Close() error
}

var stores = []struct {
	name string
	open func(dir string, d durability) (store, error)
}{{"ours", openLibrary}, {"sqlite", openSQLite}, {"bbolt", openBolt}}

// each runs do with an empty store of each kind.
func each[TB testing.TB](tb interface {
	testing.TB
	Run(string, func(TB)) bool
}, d durability, do func(tb TB, st store),
) {
	for _, s := range stores {
		tb.Run("store="+s.name, func(tb TB) {
			st, err := s.open(tb.TempDir(), d)
			require.NoError(tb, err)
			do(tb, st)
			require.NoError(tb, st.Close())
		})
	}
}

// TestStores requires that each store returns what it was given.
func TestStores(t *testing.T) {
	for _, d := range []durability{synced, relaxed} {
		t.Run("durability="+string(d), func(t *testing.T) {
			each(t, d, func(t *testing.T, st store) {
				rows := messages(3)
				require.NoError(t, st.fill(rows[:2]))
				require.NoError(t, st.add(rows[2]))
				got, err := st.lines()
				require.NoError(t, err)
				require.Equal(t, rows, got)
				require.NoError(t, st.event(rows[0]))
				ids := sessions(3)
				require.NoError(t, st.name(ids))
				names, err := st.names()
				require.NoError(t, err)
				slices.Reverse(ids)
				require.Equal(t, ids, names)
			})
		})
	}
}

// size is the number of messages, or of sessions.
const size = 10_000

// BenchmarkAppend appends one message to a transcript.
func BenchmarkAppend(b *testing.B) {
	for _, d := range []durability{synced, relaxed} {
		b.Run("durability="+string(d), func(b *testing.B) {
			each(b, d, func(b *testing.B, st store) {
				rows := messages(size)
				require.NoError(b, st.fill(rows))
				require.NoError(b, errors.Join(st.add(rows[0]), st.add(rows[0]))) // the library makes its backup
				for b.Loop() {
					require.NoError(b, st.add(rows[0]))
				}
			})
		})
	}
}

// BenchmarkLoad copies all messages out of the store.
func BenchmarkLoad(b *testing.B) {
	each(b, relaxed, func(b *testing.B, st store) {
		rows := messages(size)
		require.NoError(b, st.fill(rows))
		for b.Loop() {
			got, err := st.lines()
			require.NoError(b, err)
			require.Len(b, got, size)
		}
	})
}

// BenchmarkList lists the sessions, the last changed first.
func BenchmarkList(b *testing.B) {
	each(b, relaxed, func(b *testing.B, st store) {
		require.NoError(b, st.name(sessions(size)))
		for b.Loop() {
			got, err := st.names()
			require.NoError(b, err)
			require.Len(b, got, size)
		}
	})
}

// BenchmarkAppenders has goroutines append events durably to one log.
func BenchmarkAppenders(b *testing.B) {
	for _, g := range []int{1, 64} {
		b.Run(fmt.Sprintf("goroutines=%d", g), func(b *testing.B) {
			each(b, synced, func(b *testing.B, st store) {
				line := messages(1)[0]
				b.SetParallelism(g)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := st.event(line); err != nil {
							b.Error(err)
						}
					}
				})
			})
		})
	}
}

// messages returns n rows of about 1.2 kB.
func messages(n int) [][]byte {
	rows := make([][]byte, n)
	for i := range rows {
		rows[i] = fmt.Appendf(nil, `{"role": "assistant", "content": "%s%d"}`+"\n", strings.Repeat("The store writes a line and returns. ", 31), i)
	}
	return rows
}

// sessions returns n ids, in no order.
func sessions(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(i)*2654435761, i)
	}
	return ids
}

// library is this library with one session, its log, and further sessions.
type library struct {
	*sessionstore.Store
	log *eventslog.Log
}

const session = "1c3f3c44-0000-4000-8000-000000000002"

func openLibrary(dir string, d durability) (store, error) {
	level := sessionstore.Durable
	if d == relaxed {
		level = sessionstore.Relaxed
	}
	st, err := sessionstore.Open(dir, &sessionstore.Options{Durability: level})
	if err != nil {
		return nil, err
	}
	if err := st.Create(context.Background(), session, sessionstore.Metadata{}); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	log, err := eventslog.Open(filepath.Join(dir, session), &eventslog.Options{Sync: d == synced})
	return library{st, log}, err
}

func (l library) Close() error { return errors.Join(l.log.Close(), l.Store.Close()) }

func (l library) fill(lines [][]byte) error {
	rows := make([]sessionstore.Message, len(lines))
	for i, line := range lines {
		var err error
		if rows[i], err = sessionstore.ParseMessage(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return err
		}
	}
	return l.Append(context.Background(), session, rows...)
}

func (l library) add(line []byte) error { return l.fill([][]byte{line}) }

func (l library) event(line []byte) error {
	return l.log.Append(context.Background(), eventslog.Event{Name: "tool:post", Data: map[string]any{"text": string(line)}})
}

func (l library) lines() (lines [][]byte, err error) {
	s, err := l.Load(context.Background(), session)
	if err != nil {
		return nil, err
	}
	for _, m := range s.Messages {
		lines = append(lines, append(m.AppendTo(nil), '\n'))
	}
	return lines, nil
}

func (l library) name(ids []string) error {
	for i, id := range ids {
		if err := l.Create(context.Background(), id, sessionstore.Metadata{}); err != nil {
			return err
		}
		at := time.Now().Add(time.Duration(i-len(ids)) * time.Second)
		if err := os.Chtimes(filepath.Join(l.Dir(), id), at, at); err != nil {
			return err
		}
	}
	return nil
}

func (l library) names() (ids []string, err error) {
	found, err := l.List(context.Background(), &sessionstore.ListOptions{All: true})
	for _, s := range found {
		if s.ID != session {
			ids = append(ids, s.ID)
		}
	}
	return ids, err
}
