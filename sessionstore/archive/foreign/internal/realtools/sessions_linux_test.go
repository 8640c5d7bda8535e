package realtools

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/slice"
)

// kept is a session of a store.
type kept struct {
	name string // of the case
	st   *sessionstore.Store
	id   string
}

// histories has made-up homes of both tools.
const histories = "../../testdata"

// sessions makes the sessions that are exported to a tool: those of the corpus that came
// from the other tool, and sessions of the Amplifier tools.
func sessions(t *testing.T, p *projects.Projects, to foreign.Tool, work string) []kept {
	t.Helper()
	from := map[foreign.Tool][]foreign.Tool{foreign.Claude: {foreign.Codex}, foreign.Codex: {foreign.Claude}, foreign.Pi: {foreign.Claude, foreign.Copilot}, foreign.Copilot: {foreign.Claude, foreign.Codex, foreign.Pi}}[to]
	all := own(t, p, work)
	for _, tool := range from {
		for _, part := range []string{"", "facts", "live"} {
			all = append(all, imported(t, p, tool, filepath.Join(histories, part, string(tool)))...)
		}
	}
	return all
}

// imported imports all histories of a tool and returns the sessions.
func imported(t *testing.T, p *projects.Projects, tool foreign.Tool, home string) (all []kept) {
	t.Helper()
	found, err := foreign.Find(t.Context(), tool, &foreign.FindOptions{Home: home})
	require.NoError(t, err)
	for _, h := range found {
		report, err := foreign.Import(t.Context(), p, h, nil)
		if errors.Is(err, foreign.ErrEmpty) {
			continue
		}
		require.NoError(t, err, h.ID)
		st, err := p.Store(report.Project)
		require.NoError(t, err)
		for i, s := range report.Sessions {
			all = append(all, kept{fmt.Sprintf("%s %s %d", s.Kind, h.ID, i), st, s.ID})
		}
	}
	return all
}

// at is the time of the first message of a session; each message is a second later.
var at = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

// own makes sessions as the Amplifier tools write them.
func own(t *testing.T, p *projects.Projects, work string) (all []kept) {
	t.Helper()
	st, err := p.Store("-made-up")
	require.NoError(t, err)
	add := func(name, dir string, rows ...sessionstore.Message) string {
		id := sessionstore.NewID()
		md := sessionstore.Metadata{}
		for _, m := range [][2]string{{"session_id", id}, {"created", "2026-03-04T10:00:00+00:00"}, {"working_dir", dir}, {"name", name}, {"model", "made-up"}} {
			require.NoError(t, md.Set(m[0], m[1]))
		}
		require.NoError(t, st.Save(t.Context(), id, rows, md))
		all = append(all, kept{name, st, id})
		return id
	}
	turns := func(from, to int) (rows []sessionstore.Message) {
		for n := from; n <= to; n++ {
			rows = append(rows, text(t, "user", fmt.Sprintf("Made-up question %d?", n)), text(t, "assistant", fmt.Sprintf("A reply to question %d.", n)))
		}
		return rows
	}
	plain := add("plain", work, turns(1, 4)...)
	call, err := sessionstore.ToolCallMessage("I look.", at, sessionstore.ToolCall{ID: "call_1", Name: "look", Arguments: []byte(`{"at": "it", "n": [1, 2]}`)})
	require.NoError(t, err)
	result, err := sessionstore.ToolResult("call_1", "look", "It was seen.", at)
	require.NoError(t, err)
	add("call", work, text(t, "user", "Look at it."), call, result, text(t, "assistant", "It is fine."))
	add("image", work, parsed(t, `{"role":"user","content":[{"type":"text","text":"What is in this picture?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+pixel+`"}}]}`), text(t, "assistant", "A red pixel."))
	add("thinking", work, text(t, "user", "Think."), parsed(t, `{"role":"assistant","content":[{"type":"thinking","thinking":"Well.","signature":"made-up"},{"type":"text","text":"I thought."}]}`), text(t, "user", "<system-reminder>\nBe kind.\n</system-reminder>"), text(t, "user", "And now?"), text(t, "assistant", "Now, too."))
	add("long line", work, text(t, "user", "Read it all."), text(t, "assistant", strings.Repeat("A line of a long answer. ", 1<<20/25)), text(t, "user", "Was it long?"), text(t, "assistant", "It was."))
	add("Windows", `C:\Users\Ana\site`, text(t, "user", `What is in C:\Users\Ana\site\new.txt?`), text(t, "assistant", `C:\Users\Ana\site\new.txt is empty.`))
	add("unanswered", work, append(turns(1, 1), text(t, "user", "Are you there?"))...)
	odd := "Tabs\tand \"quotes\", a NUL \x00, \u2028 lines, emoji \U0001F600 and <tags>\r\nand $HOME `x`."
	add("odd text", work, text(t, "user", odd), text(t, "assistant", odd))

	forked, err := slice.Fork(t.Context(), st, plain, &slice.ForkOptions{Turn: new(2)})
	require.NoError(t, err)
	all = append(all, kept{"fork", st, forked.ID})
	require.NoError(t, st.Append(t.Context(), forked.ID, turns(7, 7)...))
	rewound := add("rewound", work, turns(1, 5)...)
	_, err = slice.RewindSessionTo(t.Context(), st, rewound, 2, slice.Complete)
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), rewound, turns(8, 8)...))
	sub := add("sub-session", work, turns(1, 2)...)
	_, err = st.UpdateMetadata(t.Context(), sub, func(md *sessionstore.Metadata) error { return md.Set("parent_id", plain) })
	require.NoError(t, err)
	return all
}

// pixel is a PNG of one red pixel, in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

func text(t *testing.T, role, content string) sessionstore.Message {
	t.Helper()
	m, err := sessionstore.Text(role, content, at)
	require.NoError(t, err)
	return m
}

func parsed(t *testing.T, row string) sessionstore.Message {
	t.Helper()
	m, err := sessionstore.ParseMessage([]byte(row))
	require.NoError(t, err)
	return m
}

// spoken returns the prompts and answers of messages, without texts that no person typed.
func spoken(rows []sessionstore.Message) (all []said) {
	for _, m := range rows {
		content, _ := m.Lookup("content")
		if m.Role() != "user" && m.Role() != "assistant" {
			continue
		}
		for _, s := range (item{Role: m.Role(), Content: content}).said() {
			if !strings.HasPrefix(s.text, "<system-reminder>") && strings.TrimSpace(s.text) != "" {
				all = append(all, s)
			}
		}
	}
	return all
}
