package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// heap returns how much memory is in use.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools hold goes with the second
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// requireHeap measures what do leaves in memory while st lives. These tests do
// not run in parallel, with each other or with others.
func requireHeap(t *testing.T, st *Store, atMost int64, do func()) {
	t.Helper()
	before := heap()
	do()
	grown := heap() - before
	t.Logf("%d KiB more", grown>>10)
	require.LessOrEqual(t, grown, atMost)
	runtime.KeepAlive(st)
}

func memoryStore(t *testing.T, bytes int64) *Store {
	t.Helper()
	st, err := Open(t.TempDir(), &Options{Durability: Relaxed, CacheBytes: bytes})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// refused are the calls that fail for an id that is none, or is not there.
func refused(ctx context.Context, st *Store, id string) map[string]error {
	errs := map[string]error{}
	row := newMessage([]byte(`{"role": "user", "content": "hi"}`))
	_, errs["load"] = st.Load(ctx, id)
	_, _, errs["load strictly"] = st.LoadStrict(ctx, id)
	_, errs["metadata"] = st.Metadata(ctx, id)
	_, errs["revision"] = st.Revision(ctx, id)
	_, errs["find"] = st.Find(ctx, id+"x", nil)
	_, errs["replace"] = st.Replace(ctx, id, Revision{}, nil)
	_, errs["update"] = st.UpdateMetadata(ctx, id, func(*Metadata) error { return nil })
	_, _, errs["name"] = st.SetName(ctx, id, Naming{Name: "n", Source: "manual"})
	errs["delete"] = st.Delete(ctx, id)
	for _, err := range st.Messages(ctx, id) {
		errs["messages"] = err
	}
	if checkID(id) != nil {
		errs["append"] = st.Append(ctx, id, row)
		errs["save"] = st.Save(ctx, id, []Message{row}, Metadata{})
		errs["create"] = st.Create(ctx, id, Metadata{})
		errs["config"] = st.SaveConfig(ctx, id, Metadata{})
		_, errs["acquire"] = st.Acquire(ctx, id, Owner{})
	}
	if st.Exists(id) {
		errs["exists"] = nil
	}
	return errs
}

// An id that cannot be one leaves nothing, neither in the store nor in the
// error that somebody keeps.
func TestMemoryOfInvalidIDs(t *testing.T) {
	st := memoryStore(t, 0)
	var kept []error
	for _, long := range []string{"a", "a/", "é", "\xff", "\x00", "../", " "} {
		id := strings.Repeat(long, 1<<20/len(long))
		requireHeap(t, st, 1<<20, func() {
			for name, err := range refused(t.Context(), st, id) {
				require.Error(t, err, name)
				require.Less(t, len(err.Error()), 400, name) // 64 bytes, as \x00
				require.NotContains(t, err.Error(), strings.Repeat(long, 65))
				kept = append(kept, err)
			}
		})
		runtime.KeepAlive(id)
	}
	runtime.KeepAlive(kept)
}

func TestMemoryOfManyInvalidIDs(t *testing.T) {
	st := memoryStore(t, 0)
	requireHeap(t, st, 1<<20, func() {
		for i := range testenv.Share(100, 100, 300) {
			require.ErrorIs(t, st.Delete(t.Context(), fmt.Sprint(i)+strings.Repeat("x", 1<<20)), ErrInvalidID)
		}
	})
}

// What is refused for want of the session leaves nothing.
func TestMemoryOfMissingSessions(t *testing.T) {
	st := memoryStore(t, 0)
	requireHeap(t, st, 1<<20, func() {
		for i := range 50_000 {
			if err := st.Delete(t.Context(), fmt.Sprint("session-", i)); !errors.Is(err, ErrNotFound) {
				t.Fatal(err)
			}
		}
	})
	requireHeap(t, st, 1<<20, func() {
		for i := range 1000 {
			for name, err := range refused(t.Context(), st, fmt.Sprint("session-", i)) {
				require.ErrorIs(t, err, ErrNotFound, name)
			}
		}
	})
	require.Empty(t, st.cache.sessions)
}

// sized makes n sessions with metadata and a transcript of that many bytes.
func sized(t *testing.T, st *Store, n, metadata, transcript int) {
	t.Helper()
	text := `{"text": "` + strings.Repeat("x", metadata) + `"}`
	row := `{"role": "user", "content": "` + strings.Repeat("y", 100) + `"}` + "\n"
	rows := strings.Repeat(row, transcript/len(row))
	for i := range n {
		writeMetadata(t, st, fmt.Sprint("s", i), text)
		require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), fmt.Sprint("s", i), sessiondir.Transcript), []byte(rows), 0o600))
	}
}

// Whatever was read, and however it is divided, the store stays within what it
// was allowed.
func TestMemoryOfLoadedSessions(t *testing.T) {
	share := testenv.Share(2, 2, 1) // of the sessions and of the bound
	bound := int64(4<<20) / int64(share)
	type sizes struct {
		name                 string
		n, metadata, content int
	}
	for _, test := range testenv.Some(t, 2, []sizes{
		{"metadata", testenv.Share(200, 200, 800), 20_000, 0},
		{"small", 3000 / share, 20, 0},
		{"rows", testenv.Share(50, 50, 200), 20, 100_000},
		{"both", testenv.Share(100, 100, 300), 20_000, 20_000},
		{"large", 3, 20, 3 << 20 / share},
		{"too large", 2, 20, 20 << 20 / share},
		{"listed", 3000 / share, 2000, 0},
	}...) {
		t.Run(test.name, func(t *testing.T) {
			st := memoryStore(t, bound)
			sized(t, st, test.n, test.metadata, test.content)
			requireHeap(t, st, bound+bound/8, func() {
				for round := range 2 {
					metadataOfAll(t, st)
					for i := range test.n {
						s, err := st.Load(t.Context(), fmt.Sprint("s", i))
						require.NoError(t, err)
						require.Len(t, s.Messages, test.content/132, "round %d", round)
					}
				}
			})
		})
	}
}

// With a negative bound nothing stays at all, and all goes on.
func TestMemoryOfNothing(t *testing.T) {
	st := memoryStore(t, -1)
	for i := range 50 {
		id := fmt.Sprint("s", i%5)
		require.NoError(t, st.Append(t.Context(), id, newMessage([]byte(`{"role": "user", "content": "hi"}`))))
		metadataOfAll(t, st)
		s, err := st.Load(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, s.Messages, i/5+1)
	}
	require.Zero(t, st.cache.used.Len())
}

// Under the default bound one transcript that is larger than it stays, so that its
// next save costs what is new; the next such transcript takes its place. Without
// [testenv.Long] a smaller bound stands for the default one.
func TestMemoryOfLargeTranscripts(t *testing.T) {
	require.True(t, memoryStore(t, 0).cache.keepsLarge)
	st := memoryStore(t, testenv.Share[int64](8<<20, 8<<20, 0))
	st.cache.keepsLarge = true
	size := testenv.Share(10, 10, 70) << 20
	last := testenv.Share(1, 1, 2)
	for i := range last + 1 {
		sized(t, st, 1, 20, size)
		id := fmt.Sprint("large", i)
		s, err := st.Load(t.Context(), "s0")
		require.NoError(t, err)
		require.NoError(t, st.Save(t.Context(), id, s.Messages, Metadata{}))
		require.NotNil(t, st.cache.large)
		require.Equal(t, id, st.cache.large.id)
		require.Nil(t, st.cache.sessions["s0"].cached)
	}
	before := fmt.Sprint("large", last-1)
	_, err := st.Load(t.Context(), before)
	require.NoError(t, err)
	require.Equal(t, before, st.cache.large.id)
	require.Nil(t, st.cache.sessions[fmt.Sprint("large", last)].cached)
}

// TestMemoryOfLongLines reads parts of a transcript by its index, in which some
// lines are long: that takes what is returned and little more.
func TestMemoryOfLongLines(t *testing.T) {
	const long, little = 8 << 20, 512 << 10
	dir := t.TempDir()
	st, err := Open(dir, &Options{Durability: Relaxed, CacheBytes: -1})
	require.NoError(t, err)
	answer := func(size int) Message {
		return newMessage(fmt.Appendf(nil, `{"role": "assistant", "content": %q}`, strings.Repeat("a", size)))
	}
	require.NoError(t, st.Append(t.Context(), "s",
		row(10), answer(long), // turn 1
		row(long), answer(10), // turn 2
		row(10), answer(10), answer(long), answer(long), // turn 3
		row(10), answer(10), // turn 4
	))
	unhurried()
	_, err = TurnOf(st, t.Context(), "s", 1) // makes the index
	require.NoError(t, err)
	require.NotNil(t, st.index().Rows("s"))
	one := func(m Message, err error) ([]Message, error) { return []Message{m}, err }
	part := func(p Part, err error) ([]Message, error) { return p.Messages, err }
	for name, read := range map[string]func(context.Context) ([]Message, error){
		"message 2":         func(ctx context.Context) ([]Message, error) { return one(MessageOf(st, ctx, "s", 2)) },
		"message 4":         func(ctx context.Context) ([]Message, error) { return one(MessageOf(st, ctx, "s", 4)) },
		"message 10":        func(ctx context.Context) ([]Message, error) { return one(MessageOf(st, ctx, "s", 10)) },
		"turn 1":            func(ctx context.Context) ([]Message, error) { return TurnOf(st, ctx, "s", 1) },
		"turn 2":            func(ctx context.Context) ([]Message, error) { return TurnOf(st, ctx, "s", 2) },
		"turn 3":            func(ctx context.Context) ([]Message, error) { return TurnOf(st, ctx, "s", 3) },
		"turn 4":            func(ctx context.Context) ([]Message, error) { return TurnOf(st, ctx, "s", 4) },
		"last turn":         func(ctx context.Context) ([]Message, error) { return LastTurnsOf(st, ctx, "s", 1) },
		"last 2 turns":      func(ctx context.Context) ([]Message, error) { return LastTurnsOf(st, ctx, "s", 2) },
		"3 messages from 6": func(ctx context.Context) ([]Message, error) { return part(PartOf(st, ctx, "s", 6, 3)) },
		"1 message from 9":  func(ctx context.Context) ([]Message, error) { return part(PartOf(st, ctx, "s", 9, 1)) },
	} {
		before := allocated()
		rows, err := read(t.Context())
		took := int64(allocated() - before)
		require.NoError(t, err, name)
		returned := int64(0)
		for _, m := range rows {
			returned += int64(len(m.m.raw))
		}
		require.Positive(t, returned, name)
		t.Logf("%s: %d KiB more than the %d that are returned", name, (took-returned)>>10, returned>>10)
		require.LessOrEqual(t, took, returned+little, name)
	}
	require.NoError(t, st.Close())
}

// TestMemoryOfListedLines lists sessions with a line that is long, for the first time: that
// takes what the line has and little more.
func TestMemoryOfListedLines(t *testing.T) {
	const long, little = 24 << 20, 6 << 20
	a := strings.Repeat("a", long)
	for name, line := range map[string]string{
		"prompt":          `{"role": "user", "content": "` + a + `"}`,
		"prompt, escaped": `{"role": "user", "content": "` + strings.Repeat(`\u00e9\\`, long/8) + `"}`,
		"prompt, blocks":  `{"role": "user", "content": [{"type": "text", "text": "` + a + `"}, {"type": "text", "text": "b"}]}`,
		"answer":          `{"role": "assistant", "content": "` + a + `"}`,
		"result":          `{"role": "tool", "tool_call_id": "c", "content": "` + a + `"}`,
	} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "s"), 0o700))
		text := line + "\n" + `{"role": "user", "content": "last"}` + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "s", sessiondir.Transcript), []byte(text), 0o600))
		st, err := Open(dir, nil)
		require.NoError(t, err)
		before := allocated()
		for s, err := range st.Summaries(t.Context(), nil) {
			require.NoError(t, err)
			require.Equal(t, 2, s.Messages)
			require.Equal(t, strings.HasPrefix(name, "prompt"), s.FirstPrompt != "last", name)
		}
		took := int64(allocated() - before)
		t.Logf("%s: %d KiB more than the line", name, (took-int64(len(line)))>>10)
		require.LessOrEqual(t, took, int64(len(line)+little), name)
		require.NoError(t, st.Close())
	}
}

// A clone of a message keeps its own bytes in memory, and no others of the transcript that
// it was loaded with. It reads as the message does.
func TestMemoryOfAClone(t *testing.T) {
	st := memoryStore(t, -1)
	const size = 8 << 20
	rows := []Message{row(size / 2), row(size / 2), newMessage([]byte(`{"role": "assistant", "content": [{"type": "text", "text": "hi"}], "timestamp": "2026-01-02T03:04:05Z", "tool_calls": [{"id": "a"}]}`))}
	require.NoError(t, st.Append(t.Context(), "s", rows...))
	rows = nil
	before := heap()
	load := func() Message {
		s, err := st.Load(t.Context(), "s")
		require.NoError(t, err)
		return s.Messages[2]
	}
	kept := load()
	require.Greater(t, heap()-before, int64(size), "a message keeps the transcript")
	kept = kept.Clone()
	require.Less(t, heap()-before, int64(size)/8)
	of := load()
	require.Equal(t, of.AppendTo(nil), kept.AppendTo(nil))
	require.Equal(t, of.m.places, kept.m.places)
	require.Equal(t, of.ToolCalls(), kept.ToolCalls())
	require.Equal(t, Message{}, Message{}.Clone())
}
