package sessionstore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// indexModel is a session that is changed at random, by this library and by
// others, while its index is damaged at random.
type indexModel struct {
	t    *testing.T
	r    *rand.Rand
	dir  string
	path string // of the transcript
	st   *sessionstore.Store
	next int
	old  map[string]string // the index as it was at some time
}

func (m *indexModel) row() string {
	m.next++
	text := fmt.Sprintf("message %d %s", m.next, strings.Repeat("pad ", m.r.IntN(2_000)))
	switch m.r.IntN(6) {
	case 0:
		return user(text)
	case 5:
		return fmt.Sprintf(`{"role": "user", "content": [{"type": "image", "source": {"data": "R0lGODlh%cQABAA%s"}}, {"type": "text", "text": %q}]}`, 'A'+m.next%26, strings.Repeat("%", m.r.IntN(2)), text)
	case 1:
		return user("<system-reminder>" + text)
	case 2:
		return fmt.Sprintf(`{"role": "assistant", "content": %q, "tool_calls": [{"id": "call-%d"}]}`, text, m.r.IntN(m.next))
	case 3:
		return fmt.Sprintf(`{"role": "tool", "tool_call_id": "call-%d", "content": %q}`, m.r.IntN(m.next), text)
	}
	return fmt.Sprintf(`{"role": "assistant", "content": %q}`, text)
}

func (m *indexModel) rows(n int) []sessionstore.Message {
	all := make([]string, n)
	for i := range all {
		all[i] = m.row()
	}
	return parse(m.t, all...)
}

func (m *indexModel) files() []string {
	found, err := filepath.Glob(filepath.Join(m.dir, ".sessionstore", "index", "*.*s"))
	require.NoError(m.t, err)
	return found
}

// change changes the session or its index, and tells what it did.
func (m *indexModel) change() string {
	ctx := m.t.Context()
	s, err := m.st.Load(ctx, "s")
	require.NoError(m.t, err)
	data := read(m.t, m.path)
	did := m.r.IntN(14)
	if len(s.Messages) == 0 || data == "" { // others cut all of it off
		did = 0
	}
	switch did {
	case 0, 1, 2:
		err = m.st.Append(ctx, "s", m.rows(1+m.r.IntN(3))...)
		require.NoError(m.t, err)
		return "append"
	case 3:
		rows := slices.Clone(s.Messages)
		rows[m.r.IntN(len(rows))] = m.rows(1)[0]
		require.NoError(m.t, m.st.Save(ctx, "s", rows, s.Metadata))
		return "rewrite"
	case 4:
		keep := len(s.Messages) - m.r.IntN(len(s.Messages)/20+1)
		require.NoError(m.t, m.st.Save(ctx, "s", s.Messages[:keep], s.Metadata))
		return "rewind"
	case 5:
		appendLine(m.t, m.path, m.row())
		return "foreign append"
	case 6: // a message in the middle turns into another one of the same length
		changed := strings.Replace(data, `{"role": "user", "content"`, `{"role": "tool", "content"`, 1)
		require.NoError(m.t, os.WriteFile(m.path, []byte(changed), 0o600))
		return "foreign edit in place"
	case 7: // and takes the old time with it
		fi, err := os.Stat(m.path)
		require.NoError(m.t, err)
		changed := strings.Replace(data, `{"role": "assistant"`, `{"role": "assistanT"`, 1)
		require.NoError(m.t, os.WriteFile(m.path, []byte(changed), 0o600))
		require.NoError(m.t, os.Chtimes(m.path, time.Time{}, fi.ModTime()))
		return "foreign edit that hides"
	case 8:
		half := strings.LastIndexByte(data[:len(data)-len(data)/50-1], '\n') + 1
		require.NoError(m.t, os.WriteFile(m.path, []byte(data[:half]), 0o600))
		return "foreign truncation"
	case 9:
		for _, name := range m.files() {
			index := []byte(read(m.t, name))
			index[m.r.IntN(len(index))] ^= 1 << m.r.IntN(8)
			require.NoError(m.t, os.WriteFile(name, index, 0o600))
		}
		return "flip in the index"
	case 10:
		for _, name := range m.files() {
			require.NoError(m.t, os.Truncate(name, int64(m.r.IntN(100))))
		}
		return "truncated index"
	case 11:
		require.NoError(m.t, os.RemoveAll(filepath.Join(m.dir, ".sessionstore", "index")))
		return "no index"
	case 12:
		for name, index := range m.old {
			write(m.t, index, name)
		}
		m.old = nil
		return "older index"
	}
	m.old = map[string]string{}
	for _, name := range m.files() {
		m.old[name] = read(m.t, name)
	}
	require.NoError(m.t, os.WriteFile(m.path, []byte(data), 0o600))
	return "same content anew"
}

// TestIndexModel compares all that is answered by way of the index with what
// Load reads, after every change.
func TestIndexModel(t *testing.T) {
	t.Parallel()
	for _, size := range []int{20, 600} { // small, and larger than a megabyte
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			m := &indexModel{t: t, r: testenv.Rand(t), dir: t.TempDir()}
			m.path = filepath.Join(m.dir, "s", transcriptFile)
			m.st = open(t, m.dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
			require.NoError(t, m.st.Save(t.Context(), "s", append(parse(t, user("the first")), m.rows(size)...), metadata(t, `{"created": "2026-11-18T12:00:00+00:00"}`)))
			for step := range testenv.Share(4, 4, 60) {
				did := m.change()
				if m.r.IntN(3) == 0 {
					time.Sleep(25 * time.Millisecond) // the stamp is believed from now on
				}
				for range 1 + m.r.IntN(2) {
					m.check(fmt.Sprintf("step %d: %s", step, did))
				}
			}
		})
	}
}

// check asks a new store, as a new process does.
func (m *indexModel) check(after string) {
	t, ctx := m.t, m.t.Context()
	plain := open(t, m.dir, nil)
	s, err := plain.Load(ctx, "s")
	require.NoError(t, err, after)
	rows := s.Messages
	turns := slices.Collect(slice.Turns(rows))

	st := open(t, m.dir, nil)
	sum, err := st.Summary(ctx, "s")
	require.NoError(t, err, after)
	require.Equal(t, len(rows), sum.Messages, after)
	require.Equal(t, len(turns), sum.Turns, after)
	require.Equal(t, s.Revision.Bytes, sum.Bytes, after)
	prompts, first, opened, stray := 0, "", map[string]bool{}, 0
	for _, row := range rows {
		if slice.IsRealUser(row) {
			prompts++
			if first == "" {
				first = row.Content()
			}
		}
		for _, c := range row.ToolCalls() {
			if row.Role() == "assistant" { // nobody else calls
				opened[c.ID] = true
			}
		}
		if row.Role() == "tool" {
			if !opened[row.ToolCallID()] {
				stray++
			}
			delete(opened, row.ToolCallID())
		}
	}
	require.Equal(t, prompts, sum.Prompts, after)
	require.Equal(t, len(opened), sum.Unanswered, after)
	fresh := t.TempDir() // without an index
	write(t, read(t, m.path), fresh, "s", transcriptFile)
	want, err := open(t, fresh, nil).Summary(ctx, "s")
	require.NoError(t, err, after)
	require.Equal(t, []int{want.Pictures, want.Side, want.Refused}, []int{sum.Pictures, sum.Side, sum.Refused}, after)
	require.GreaterOrEqual(t, sum.Refused, stray, after)
	require.Equal(t, strings.TrimSpace(first[:min(500, len(first))]), sum.FirstPrompt, after)
	for got, err := range st.Summaries(ctx, nil) {
		require.NoError(t, err, after)
		require.Equal(t, sum, got, after)
	}
	n := 1 + m.r.IntN(len(rows))
	one, err := sessionstore.MessageOf(st, ctx, "s", n)
	require.NoError(t, err, after)
	require.Equal(t, lines(rows[n-1:n]), lines([]sessionstore.Message{one}), after)
	_, err = sessionstore.MessageOf(st, ctx, "s", len(rows)+1)
	require.ErrorIs(t, err, sessionstore.ErrNotFound, after)
	m.checkParts(st, rows, turns, after)
	if len(turns) == 0 {
		return
	}
	n = 1 + m.r.IntN(len(turns))
	part, err := sessionstore.TurnOf(st, ctx, "s", n)
	require.NoError(t, err, after)
	require.Equal(t, lines(rows[turns[n-1].Start:turns[n-1].End]), lines(part), after)
	_, err = sessionstore.TurnOf(st, ctx, "s", len(turns)+1)
	require.ErrorIs(t, err, sessionstore.ErrNotFound, after)
	n = 1 + m.r.IntN(len(turns))
	part, err = sessionstore.LastTurnsOf(st, ctx, "s", n)
	require.NoError(t, err, after)
	require.Equal(t, lines(rows[turns[len(turns)-n].Start:]), lines(part), after)
	window, err := slice.ResumeWindow(ctx, st, "s", n)
	require.NoError(t, err, after)
	require.Equal(t, lines(slice.Window(rows, n)), lines(window), after)
}
