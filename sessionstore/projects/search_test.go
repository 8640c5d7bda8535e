package projects_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// searched returns the hits of a search as project/session:message/turn role, and what
// could not be read.
func searched(ctx context.Context, p *projects.Projects, s sessionstore.Sought, q projects.Query) (hits []projects.Hit, failed map[string]error) {
	failed = map[string]error{}
	for h, err := range p.Search(ctx, s, q) {
		if err != nil {
			failed[h.Project+"/"+h.ID] = err
			continue
		}
		hits = append(hits, h)
	}
	return hits, failed
}

func TestSearch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	session := func(project, id, created string, lines ...string) {
		write(t, `{"created": "`+created+`"}`, dir, project, "sessions", id, metadataFile)
		write(t, strings.Join(lines, "\n")+"\n", dir, project, "sessions", id, transcriptFile)
	}
	call := `{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "tool": "grep", "arguments": {"for": "Needle"}}]}`
	result := `{"role": "tool", "tool_call_id": "1", "content": "a needle of a tool"}`
	session("p", "old", "2026-01-01T00:00:00Z", user("hay"), `{"role": "assistant", "content": "a NEEDLE\nhere"}`, user("needle two"), call, result)
	session("q", "new", "2026-01-02T00:00:00Z", `{"role": "assistant", "content": "needle before a turn"}`, user("x "+strings.Repeat("é", 60)+"needle"+strings.Repeat("é", 60)))
	session("q", "none", "2026-01-03T00:00:00Z", user("hay"), result)
	session("q", "torn", "2026-01-04T00:00:00Z", user("needle"), `{"role": "us`)
	p := openProjects(t, dir)

	found, failed := searched(t.Context(), p, sessionstore.Sought{Text: "Needle"}, projects.Query{})
	require.Len(t, failed, 1)
	require.ErrorIs(t, failed["q/torn"], sessionstore.ErrCorrupt)
	type at struct {
		session       string
		message, turn int
		role, text    string
	}
	places := func(hits []projects.Hit) (all []at) {
		for _, h := range hits {
			all = append(all, at{h.Project + "/" + h.ID, h.Message, h.Turn, h.Role, h.Before + "|" + h.Text + "|" + h.After})
		}
		return all
	}
	torn := at{"q/torn", 1, 1, "user", "|needle|"}
	long := "…" + strings.Repeat("é", 30)
	all := []at{
		torn,
		{"q/new", 1, 0, "assistant", "|needle| before a turn"},
		{"q/new", 2, 1, "user", long + "|needle|" + strings.Repeat("é", 30) + "…"},
		{"p/old", 2, 1, "assistant", "a |NEEDLE|\nhere"},
		{"p/old", 3, 2, "user", "|needle| two"},
	}
	require.Equal(t, all, places(found))
	require.Equal(t, "2026-01-01T00:00:00Z", found[3].CreatedText)
	require.DirExists(t, found[3].Dir)

	found, _ = searched(t.Context(), p, sessionstore.Sought{Text: "needle", Each: 1}, projects.Query{Limit: 2})
	require.Equal(t, all[:2], places(found))
	found, failed = searched(t.Context(), p, sessionstore.Sought{Regexp: regexp.MustCompile(`(?i)need\w+ (two|of)`), Tools: true}, projects.Query{Project: "p"})
	require.Empty(t, failed)
	require.Equal(t, []at{{"p/old", 3, 2, "user", "|needle two|"}, {"p/old", 5, 2, "tool", "a |needle of| a tool"}}, places(found))
	found, _ = searched(t.Context(), p, sessionstore.Sought{Text: "needle", Tools: true}, projects.Query{Project: "p", Match: func(_ context.Context, st *sessionstore.Store, id string) (bool, error) { return id == "old", nil }})
	require.Equal(t, at{"p/old", 4, 2, "assistant", `grep {"for": "|Needle|"}`}, places(found)[2])

	_, failed = searched(t.Context(), p, sessionstore.Sought{}, projects.Query{Project: "p"})
	require.ErrorContains(t, failed["p/old"], "the text to find is empty")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range p.Search(ctx, sessionstore.Sought{Text: "needle"}, projects.Query{}) {
		cancel()
		last = err
	}
	require.ErrorIs(t, last, context.Canceled)
	for h := range p.Search(t.Context(), sessionstore.Sought{Text: "needle"}, projects.Query{}) {
		require.Equal(t, "torn", h.ID)
		break
	}
	st, err := p.Store("p")
	require.NoError(t, err)
	for _, err := range st.Search(t.Context(), "missing", sessionstore.Sought{Text: "needle"}) {
		require.ErrorIs(t, err, sessionstore.ErrNotFound)
	}
	var e *sessionstore.Error
	for _, err := range st.Search(t.Context(), "old", sessionstore.Sought{}) {
		require.True(t, errors.As(err, &e))
		require.Equal(t, "search", e.Op)
	}
}

// TestSearchForms finds a word in either form of its accents, in plain rows and in escapes.
func TestSearchForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, word := range []string{"Caf\u00e9", "Cafe\u0301", "\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"} {
		for _, row := range []string{user("the " + word + " menu"), `{"role": "user", "content": "the ` + strings.Trim(strconv.QuoteToASCII(word), `"`) + ` menu"}`} {
			id := fmt.Sprint(i, len(row))
			write(t, `{"created": "2026-01-01T00:00:00Z"}`, dir, "p", "sessions", id, metadataFile)
			write(t, row+"\n", dir, "p", "sessions", id, transcriptFile)
		}
	}
	p := openProjects(t, dir)
	for _, text := range []string{"THE CAF\u00c9", "cafe\u0301 menu", "\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af m"} {
		found, failed := searched(t.Context(), p, sessionstore.Sought{Text: text}, projects.Query{})
		require.Empty(t, failed)
		require.Len(t, found, 4, "%+q", text)
	}
}
