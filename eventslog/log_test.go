package eventslog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
)

// openIn opens a log whose file holds text.
func openIn(t *testing.T, text string, opts *Options) *Log {
	t.Helper()
	l, err := Open(filepath.Join(t.TempDir(), "sess"), opts)
	require.NoError(t, err)
	put(t, l, text)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func put(t *testing.T, l *Log, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(l.dir, 0o700))
	require.NoError(t, os.WriteFile(l.path(), []byte(text), 0o600))
}

func content(t *testing.T, l *Log) string {
	t.Helper()
	data, err := os.ReadFile(l.path())
	require.NoError(t, err)
	return string(data)
}

// names returns the names of the events after a cursor, "!" for a rewritten log.
func names(t *testing.T, l *Log, from Cursor) (all []string, end Cursor) {
	t.Helper()
	end = from
	for h, err := range l.Heads(t.Context(), from) {
		require.NoError(t, err)
		all, end = append(all, mark(h)), h.Next
	}
	return all, end
}

func mark(h Head) string {
	if h.Rewritten {
		return "!"
	}
	return h.Event
}

func event(name string) string { return `{"event": "` + name + `"}` }

func TestAppend(t *testing.T) {
	t.Parallel()
	l, err := Open(filepath.Join(t.TempDir(), "deep", "sess"), &Options{Sync: true})
	require.NoError(t, err)
	at := time.Date(2026, 1, 2, 3, 4, 5, 678900000, time.FixedZone("", 3600))
	require.NoError(t, l.Append(t.Context()))
	_, err = os.Stat(l.path())
	require.ErrorIs(t, err, fs.ErrNotExist, "no events, no file")
	require.NoError(t, l.Append(t.Context(),
		Event{Name: "a", Time: at, Data: map[string]any{"x": "<&>", "status": "error"}},
		Event{Name: "b:error", Level: "DEBUG", Time: at, Data: nil},
	))
	schema := `"schema": {"name": "amplifier.log", "ver": "1.0.0"}`
	require.Equal(t, `{"ts": "2026-01-02T02:04:05.678900+00:00", "lvl": "ERROR", `+schema+
		`, "event": "a", "session_id": "sess", "status": "error", "data": {"x": "<&>"}}`+"\n"+
		`{"ts": "2026-01-02T02:04:05.678900+00:00", "lvl": "DEBUG", `+schema+`, "event": "b:error", "session_id": "sess"}`+"\n",
		content(t, l))
	require.ErrorContains(t, l.Append(t.Context(), Event{Name: "c"}, Event{Name: "d", Data: 5}), "append events: encode event 1: data is not an object")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.Append(ended, Event{Name: "c"}), context.Canceled)
	require.Equal(t, 2, strings.Count(content(t, l), "\n"))
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	require.ErrorIs(t, l.Append(t.Context(), Event{Name: "c"}), fs.ErrClosed)
	_, err = l.Summary(t.Context())
	require.ErrorIs(t, err, fs.ErrClosed)
}

// An event without a name is refused, with all others of the call.
func TestAppendRefusesNamelessEvents(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", " ", "\t\n"} {
		l, err := Open(t.TempDir(), nil)
		require.NoError(t, err)
		for _, batch := range [][]Event{
			{{Name: name, Data: map[string]any{"x": 1}}},
			{{Name: "a"}, {Name: name}},
			{{Name: name, Data: map[string]any{"event": "session:start"}}, {Name: "b"}},
		} {
			require.ErrorContains(t, l.Append(t.Context(), batch...), "it has no name: set Event.Name")
			require.NoFileExists(t, l.path())
		}
		require.NoError(t, l.Append(t.Context(), Event{Name: "a"}))
		require.NoError(t, l.Close())
	}
}

func TestAppendEndsTornLine(t *testing.T) {
	t.Parallel()
	l := openIn(t, event("a")+"\n"+`{"event": "to`, nil)
	require.NoError(t, l.Append(t.Context(), Event{Name: "b"}))
	all, _ := names(t, l, Cursor{})
	require.Equal(t, []string{"a", "b"}, all)
}

func TestAppendToReplacedFile(t *testing.T) {
	t.Parallel()
	l := openIn(t, "", nil)
	require.NoError(t, l.Append(t.Context(), Event{Name: "a"}))
	require.NoError(t, os.Rename(l.path(), l.path()+".1"))
	require.NoError(t, l.Append(t.Context(), Event{Name: "b"}))
	require.NoError(t, os.RemoveAll(l.dir))
	require.NoError(t, l.Append(t.Context(), Event{Name: "c"}))
	all, _ := names(t, l, Cursor{})
	require.Equal(t, []string{"c"}, all)
}

// TestAppendFails lets every step fail in turn: the log then holds the lines
// before and after, and none that is no event but the torn one.
func TestAppendFails(t *testing.T) {
	t.Parallel()
	for _, part := range []int{0, 50} {
		for at := 0; ; at++ {
			failer := &crashsim.Failer{At: at, Err: syscall.EIO, Part: part}
			l, err := open(filepath.Join(t.TempDir(), "s"), &Options{Sync: true}, &seam.Seam{Before: failer.Before})
			require.NoError(t, err)
			first := l.Append(t.Context(), Event{Name: "first"})
			second := l.Append(t.Context(), Event{Name: "second"})
			all, _ := names(t, l, Cursor{})
			require.NoError(t, l.Close())
			if first == nil { // the failure came too late for it
				require.GreaterOrEqual(t, at, 5, "mkdir, create, write, sync, names")
				require.Equal(t, "first", all[0])
				break
			}
			op, _ := failer.Failed()
			require.NoError(t, second, "%v", op.Kind)
			require.ErrorIs(t, first, syscall.EIO, "%v", op.Kind)
			require.Equal(t, "second", all[len(all)-1], "%v", op.Kind)
			require.LessOrEqual(t, len(all), 2)
		}
	}
}

func TestAppendTogether(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 50
	dir := filepath.Join(t.TempDir(), "s")
	var wg sync.WaitGroup
	for w := range writers {
		l, err := Open(dir, &Options{Sync: w%2 == 0}) // each its own file, as processes have
		require.NoError(t, err)
		for g := range 2 {
			wg.Go(func() {
				for i := range each {
					data := map[string]any{"text": strings.Repeat("x", i*500)}
					if err := l.Append(t.Context(), Event{Name: fmt.Sprint(w, g, i), Data: data}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		t.Cleanup(func() { require.NoError(t, l.Close()) })
	}
	wg.Wait()
	l, err := Open(dir, nil)
	require.NoError(t, err)
	sum, err := l.Summary(t.Context())
	require.NoError(t, err)
	require.Equal(t, writers*2*each, sum.Total)
	require.Len(t, sum.Types, sum.Total)
	require.NoError(t, l.Close())
}

func TestHeads(t *testing.T) {
	t.Parallel()
	text := event("a") + "\r\n\nbad\n" + `{"ts": "2026-01-01T00:00:00.5", "lvl": "WARN", "session_id": "s", "event": "b", "event": "c"}` + "\n" +
		event("d") + "\r" + event("e") + "\n[]\n" + event("f")
	l := openIn(t, text, nil)
	var heads []Head
	for h, err := range l.Heads(t.Context(), Cursor{}) {
		require.NoError(t, err)
		heads = append(heads, h)
		r, err := l.Open(t.Context(), h)
		require.NoError(t, err)
		line, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.Equal(t, text[h.Offset:h.Offset+h.Size], string(line))
		require.True(t, json.Valid(line))
	}
	require.Len(t, heads, 5)
	require.Equal(t, time.Date(2026, 1, 1, 0, 0, 0, 5e8, time.UTC), heads[1].Time)
	require.Equal(t, []any{4, "c", "WARN", "s"}, []any{heads[1].Line, heads[1].Event, heads[1].Level, heads[1].SessionID})
	require.Equal(t, []int{1, 4, 5, 5, 7}, []int{heads[0].Line, heads[1].Line, heads[2].Line, heads[3].Line, heads[4].Line})
	for i, h := range heads {
		rest, _ := names(t, l, h.Next)
		require.Equal(t, []string{"a", "c", "d", "e", "f"}[i+1:], append([]string{}, rest...))
		tail, err := l.Tail(t.Context(), i)
		require.NoError(t, err)
		require.Len(t, tail, i)
		for j, got := range tail {
			want := heads[len(heads)-i+j]
			want.Line, want.Next.Line = 0, -1
			require.Equal(t, want, got)
		}
	}
	put(t, l, strings.Replace(text, `"d"`, `"D"`, 1))
	_, err := l.Open(t.Context(), heads[4])
	require.ErrorIs(t, err, ErrRewritten)
	all, _ := names(t, l, heads[4].Next)
	require.Equal(t, []string{"!", "a", "c", "D", "e", "f"}, all)
	all, _ = names(t, l, Cursor{Offset: -7})
	require.Equal(t, "!", all[0])
	all, _ = names(t, l, Cursor{Offset: 1 << 40})
	require.Equal(t, "!", all[0])
}

func TestMissing(t *testing.T) {
	t.Parallel()
	l, err := Open(filepath.Join(t.TempDir(), "none"), nil)
	require.NoError(t, err)
	sum, err := l.Summary(t.Context())
	require.NoError(t, err)
	require.Equal(t, Summary{Types: map[string]int{}}, sum)
	tail, err := l.Tail(t.Context(), 3)
	require.NoError(t, err)
	require.Empty(t, tail)
	_, err = l.SliceTo(t.Context(), io.Discard, time.Now(), "", "")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.MkdirAll(l.path(), 0o700))
	for _, err = range l.Heads(t.Context(), Cursor{}) {
	}
	require.ErrorContains(t, err, "not a regular file")
	require.Error(t, l.Append(t.Context(), Event{Name: "x"}))
	require.NoError(t, l.Close())
}

// TestLongLines compares what is read and cut of lines longer than any buffer
// with the same lines in short.
func TestLongLines(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var long, short bytes.Buffer
	for i := range 40 {
		size := []int{0, 10, blockSize - 100 + i, blockSize + windowSize + i, 1 << 20}[random.IntN(5)]
		head := fmt.Sprintf(`"ts": "2026-01-01T00:00:%02dZ", "event": "e%d"`, i, i%3)
		if i%4 > 0 {
			head += fmt.Sprintf(`, "session_id": "p%d"`, i%4)
		}
		if i%7 == 6 {
			head = `"ts": bad`
		}
		pad := strings.Repeat("x€\\n", size/6)
		for buf, pad := range map[*bytes.Buffer]string{&long: pad, &short: fmt.Sprint("pad", len(pad))} {
			if i%2 == 0 {
				fmt.Fprintf(buf, "{\"data\": {\"a\": \"%s\", \"ts\": 1}, %s}\n", pad, head)
			} else {
				fmt.Fprintf(buf, "{%s, \"data\": {\"a\": \"%s\", \"ts\": 1}}\n", head, pad)
			}
		}
	}
	a, b := openIn(t, long.String(), nil), openIn(t, short.String(), nil)
	wantNames, _ := names(t, b, Cursor{})
	gotNames, _ := names(t, a, Cursor{})
	require.Equal(t, wantNames, gotNames)
	want, err := b.Summary(t.Context())
	require.NoError(t, err)
	got, err := a.Summary(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got)
	tail, err := a.Tail(t.Context(), 100)
	require.NoError(t, err)
	require.Len(t, tail, want.Total)
	for _, id := range []string{"", "new"} {
		for _, parent := range []string{"", "parent"} {
			var cutLong, cutShort bytes.Buffer
			at := time.Date(2026, 1, 1, 0, 0, 33, 0, time.UTC)
			n, err := a.SliceTo(t.Context(), &cutLong, at, id, parent)
			require.NoError(t, err)
			m, err := b.SliceTo(t.Context(), &cutShort, at, id, parent)
			require.NoError(t, err)
			require.Equal(t, m, n)
			require.Equal(t, brief(cutShort.String()), brief(cutLong.String()))
		}
	}
}

// brief replaces the padding by its length.
func brief(text string) string {
	text = strings.ReplaceAll(text, "x€\\n", "")
	for i := range 10 {
		text = strings.ReplaceAll(text, fmt.Sprint(i), "")
	}
	return strings.ReplaceAll(text, "pad", "")
}
