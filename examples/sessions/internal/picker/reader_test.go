package picker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// longTest stores a session of n turns, each of which calls a tool, and returns a model
// that reads it, the store, and a function that carries out what the model wants to read.
func longTest(t *testing.T, n int) (*Model, *sessionstore.Store, func([]Command)) {
	t.Helper()
	s, session := openTest(t)
	st, err := s.projects.Store("one")
	require.NoError(t, err)
	var rows []sessionstore.Message
	for i := range n {
		id := fmt.Sprint("call-", i)
		for _, row := range []map[string]any{
			{"role": "user", "content": fmt.Sprintf("Question %d: who wrote it?", i)},
			{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": id, "tool": "bash", "arguments": map[string]any{"command": fmt.Sprint("grep number-", i)}}}},
			{"role": "tool", "tool_call_id": id, "content": fmt.Sprintf("the \x1b[31mresult\nof call %d.", i)},
			{"role": "assistant", "content": fmt.Sprintf("Answer %d: **somebody**. %s", i, strings.Repeat("word ", 200))},
		} {
			m, err := sessionstore.NewMessage(row)
			require.NoError(t, err)
			rows = append(rows, m)
		}
	}
	require.NoError(t, st.Append(t.Context(), session.ID, rows...))
	m := newModel(t)
	m.list.replace([]Session{session})
	most := 0
	var carry func([]Command)
	carry = func(todo []Command) {
		for _, c := range todo {
			switch c := c.(type) {
			case Read:
				e := s.read(context.Background(), c).(PartRead)
				require.LessOrEqual(t, e.Next-e.First, 200, "a part is a part")
				carry(m.Update(e))
			case Look:
				if c.Text != "" {
					carry(m.Update(s.look(context.Background(), c)))
				}
			}
			most = max(most, m.reader.view.TotalLineCount())
		}
		require.LessOrEqual(t, most, 2*readerLines)
	}
	return m, st, carry
}

// TestReaderReadsAll reads a long conversation from its end to its beginning and back. No
// line is shown twice or left out, and not all of it is in memory.
func TestReaderReadsAll(t *testing.T) {
	t.Parallel()
	const turns = 1500
	m, _, carry := longTest(t, turns)
	carry(press(m, "tab"))
	require.Equal(t, reading, m.mode)
	require.Contains(t, screenText(m, 80, 24), fmt.Sprint("Answer ", turns-1))
	require.Contains(t, screenText(m, 80, 24), fmt.Sprintf("message %d of %d", 4*turns+4, 4*turns+4))
	for _, key := range []string{"pgup", "pgdown"} {
		var seen []string
		for last := ""; ; carry(press(m, key)) {
			text := screenText(m, 80, 24)
			if text == last {
				break
			}
			last = text
			lines := slices.Collect(strings.Lines(text))
			if key == "pgup" {
				slices.Reverse(lines)
			}
			for _, line := range lines {
				if strings.HasPrefix(line, "Question ") && (len(seen) == 0 || seen[len(seen)-1] != line) {
					seen = append(seen, line)
				}
			}
		}
		for i := range turns {
			at := i
			if key == "pgup" {
				at = turns - 1 - i
			}
			require.Equal(t, fmt.Sprintf("Question %d: who wrote it?\n", at), seen[i], key)
		}
	}
	require.Contains(t, screenText(m, 80, 24), fmt.Sprint("Answer ", turns-1))
	require.LessOrEqual(t, m.reader.next-m.reader.first, 4*turns, "the rest is forgotten")
	carry(press(m, "g"))
	require.Contains(t, screenText(m, 80, 24), "Find the \ufffdleak\nin the pool")
	carry(press(m, "G"))
	require.Contains(t, screenText(m, 80, 24), fmt.Sprint("Answer ", turns-1))
	require.Empty(t, press(m, "q")[1:])
	require.Equal(t, browsing, m.mode)
}

// TestReaderFinds finds a text before, behind and beyond what is in memory, and in calls
// that are folded.
func TestReaderFinds(t *testing.T) {
	t.Parallel()
	m, _, carry := longTest(t, 300)
	carry(press(m, "tab"))
	carry(press(m, "/"))
	write(m, "QUESTION 17:")
	carry(press(m, "enter"))
	require.Contains(t, screenText(m, 80, 24), "Question 17: who wrote it?")
	require.Contains(t, strings.Join(m.View(80, 24), "\n"), "\x1b[7mQuestion 17:\x1b[m")
	carry(press(m, "n"))
	require.Contains(t, screenText(m, 80, 24), "Question 17: who wrote it?", "it is the only one")
	carry(press(m, "/"))
	write(m, "number-2")
	carry(press(m, "enter"))
	require.Contains(t, screenText(m, 80, 24), `→ bash {"command": "grep number-20"}`)
	carry(press(m, "N"))
	require.Contains(t, screenText(m, 80, 24), `→ bash {"command": "grep number-2"}`)
	carry(press(m, "N"))
	require.Contains(t, screenText(m, 80, 24), `→ bash {"command": "grep number-299"}`, "it goes on at the other end")
	carry(press(m, "/"))
	write(m, "of call 31.")
	carry(press(m, "enter"))
	require.NotContains(t, screenText(m, 80, 24), "\n  of call 31.", "it is folded")
	require.Contains(t, screenText(m, 80, 24), "← 2 lines: the \ufffd[31mresult")
	carry(press(m, "t"))
	carry(press(m, "n"))
	require.Contains(t, screenText(m, 80, 24), "\n  of call 31.")
	carry(press(m, "/"))
	write(m, "nobody at all")
	carry(press(m, "enter"))
	require.Contains(t, screenText(m, 80, 24), `"nobody at all" is not in this conversation.`)
	press(m, "esc")
	require.Equal(t, reading, m.mode, "first the search ends")
	press(m, "esc")
	require.Equal(t, browsing, m.mode)
}

// TestReaderBeginsAtHit reads a session that a search found.
func TestReaderBeginsAtHit(t *testing.T) {
	t.Parallel()
	m, _, carry := longTest(t, 300)
	press(m, "ctrl+f")
	write(m, "question 42:")
	press(m, "enter")
	m.Update(Found{Gen: 1, Key: m.list.all[0].Key, Excerpts: []Excerpt{{"user", "", "question 42:", ""}}})
	carry(press(m, "tab"))
	require.Contains(t, screenText(m, 80, 24), "Question 42: who wrote it?")
}

// TestReaderGrows has messages come, and go, while the end is read.
func TestReaderGrows(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	k := m.list.choice()
	require.Equal(t, []Command{Read{Key: k, Gen: 1, Back: true}}, press(m, "tab"))
	passage := func(n int) Passage { return Passage{n, "user", fmt.Sprint("text ", n), ""} }
	m.Update(PartRead{Key: k, Gen: 1, Back: true, First: 1, Next: 3, Total: 2, Passages: []Passage{passage(1), passage(2)}})
	require.Contains(t, m.Update(Noticed{}), Read{Key: k, Gen: 1, From: 3})
	m.Update(PartRead{Key: k, Gen: 1, First: 3, Next: 4, Total: 3, Passages: []Passage{passage(3)}})
	require.Contains(t, screenText(m, 80, 24), "text 3")
	m.Update(Listed{Gen: 2, Sessions: m.list.all, Done: true})
	require.Contains(t, m.Update(Noticed{}), Read{Key: k, Gen: 1, From: 4})
	require.Equal(t, []Command{Read{Key: k, Gen: 2, Back: true}}, m.Update(PartRead{Key: k, Gen: 1, First: 2, Next: 2, Total: 1}), "it was cut, so it is read anew")
	m.Update(PartRead{Key: k, Gen: 1, First: 1, Next: 4, Total: 3})
	m.Update(PartRead{Key: k, Gen: 2, Back: true, First: 1, Next: 2, Total: 1, Passages: []Passage{passage(1)}})
	require.NotContains(t, screenText(m, 80, 24), "text 3")

	require.Equal(t, []Command{Copy{k.ID}}, press(m, "y"))
	require.Equal(t, k, press(m, "enter")[0].(Check).Session.Key)
	require.Equal(t, []Command{Plan{m.list.all[0]}}, press(m, "^d"))
	m.Update(Planned{Session: m.list.all[0]})
	require.Contains(t, screenText(m, 80, 24), `Move "Weather report" to the trash?  y/n`)
	press(m, "n")
	require.Equal(t, reading, m.mode)
	m.Update(Resized{40, 12})
	require.Contains(t, screenText(m, 40, 12), "text 1")
}

// TestReaderSeesReplaced has a transcript replaced by a longer one while it is read, at its
// end and in its middle: nothing of the former one stays on the screen.
func TestReaderSeesReplaced(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{nil, {"g"}} {
		m, st, carry := longTest(t, 100)
		carry(press(m, "tab"))
		for _, key := range keys {
			carry(press(m, key))
		}
		k := m.reader.key
		var rows []sessionstore.Message
		for i := range 1000 {
			row, err := sessionstore.NewMessage(map[string]any{"role": "user", "content": fmt.Sprintf("Another text %d. %s", i, strings.Repeat("more ", 200))})
			require.NoError(t, err)
			rows = append(rows, row)
		}
		old, err := st.Revision(t.Context(), k.ID)
		require.NoError(t, err)
		_, err = st.Replace(t.Context(), k.ID, old, rows)
		require.NoError(t, err)
		carry(m.Update(Noticed{}))
		text := screenText(m, 80, 24)
		require.Contains(t, text, "message 1000 of 1000")
		require.Contains(t, text, "Another text 999")
		require.NotContains(t, text, "word")
	}
}

// TestReaderStopsAtErrors reads a session that is gone, or goes while it is read: it is read
// again when sessions change, and not all the time. What was read stays on the screen.
func TestReaderStopsAtErrors(t *testing.T) {
	t.Parallel()
	gone := errors.New("it is gone")
	m := newModel(t)
	k := m.list.choice()
	press(m, "tab")
	require.Empty(t, m.Update(PartRead{Key: k, Gen: 1, Back: true, Err: gone}))
	require.Contains(t, screenText(m, 80, 24), "it is gone")
	require.Contains(t, m.Update(Noticed{}), Read{Key: k, Gen: 2, Back: true})
	passage := Passage{1, "user", "the only text", ""}
	m.Update(PartRead{Key: k, Gen: 2, Back: true, First: 1, Next: 2, Total: 1, Passages: []Passage{passage}})
	m.Update(Listed{Gen: 2, Sessions: m.list.all, Done: true})
	require.Contains(t, m.Update(Noticed{}), Read{Key: k, Gen: 2, From: 2})
	require.Empty(t, m.Update(PartRead{Key: k, Gen: 2, Err: gone}))
	require.Contains(t, screenText(m, 80, 24), "the only text")
	require.Contains(t, screenText(m, 80, 24), "it is gone")

	require.Equal(t, []Command{Plan{m.list.all[0]}}, press(m, "^d"))
	m.Update(Planned{Session: m.list.all[0]})
	press(m, "y")
	m.Update(Deleted{Key: k, Name: "Weather report"})
	require.Equal(t, browsing, m.mode, "it is in the trash")
	require.Equal(t, Key{}, m.reader.key)

	s, session := openTest(t)
	session.ID = "another"
	e := s.read(t.Context(), Read{Key: session.Key, Gen: 1, Back: true}).(PartRead)
	require.ErrorIs(t, e.Err, sessionstore.ErrNotFound)
}

// TestReaderForgetsNothingNear reads long messages at the border between two of them: no
// message near the screen is forgotten, only to be read once more.
func TestReaderForgetsNothingNear(t *testing.T) {
	t.Parallel()
	long := func(n, lines int) []Passage {
		return []Passage{{n, "user", strings.TrimSuffix(strings.Repeat("line\n", lines), "\n"), ""}}
	}
	m := newModel(t)
	k := m.list.choice()
	press(m, "tab")
	m.Update(PartRead{Key: k, Gen: 1, Back: true, First: 1, Next: 2, Total: 2, Passages: long(1, 2100)})
	m.reader.view.SetYOffset(2070)
	require.Empty(t, m.Update(PartRead{Key: k, Gen: 1, First: 2, Next: 3, Total: 2, Passages: long(2, 3000)}), "the message behind")
	require.Equal(t, 3, m.reader.next)

	m = newModel(t)
	press(m, "tab")
	m.Update(PartRead{Key: k, Gen: 1, Back: true, First: 2, Next: 3, Total: 2, Passages: long(2, 2500)})
	m.reader.view.SetYOffset(5)
	require.Empty(t, m.Update(PartRead{Key: k, Gen: 1, Back: true, First: 1, Next: 2, Total: 2, Passages: long(1, 2600)}), "the message before")
	require.Equal(t, 1, m.reader.first)
}

// TestReaderCleansRoles has a role that a terminal would obey.
func TestReaderCleansRoles(t *testing.T) {
	t.Parallel()
	row, err := sessionstore.NewMessage(map[string]any{"role": "sys\x1b]0;title\x07\ntem\u202e", "content": "text"})
	require.NoError(t, err)
	all, err := passages([]sessionstore.Message{row}, 1, passageBytes)
	require.NoError(t, err)
	require.Equal(t, []Passage{{1, "sys\ufffd]0;title\ufffd tem\ufffd", "text", ""}}, all)
}
