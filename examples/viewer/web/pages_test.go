package web

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func titles(body string) (all []string) {
	for _, m := range regexp.MustCompile(`<span class="title">([^<]*)</span>`).FindAllStringSubmatch(body, -1) {
		all = append(all, m[1])
	}
	return all
}

func TestList(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	require.Contains(t, s.get(200, "/p/weather"), "No sessions here yet.")
	s.create("s1", map[string]any{"name": "a name", "manifest_name": "a manifest", "status": "completed", "turn_count": 7, "model": "m-1"}, user("why?"))
	s.create("s2", map[string]any{"name": "only a name", "turn_count": 7}, user("a"), user("<system-reminder>b"), user("c"))
	s.create("s3", map[string]any{"name": " "})
	s.create("s6", map[string]any{"name": " "}, user(" What is\nasked?"))
	s.create("s1-0000_agent", map[string]any{"name": "helper", "parent_id": "s1"})
	s.create("s4", map[string]any{"name": "forked", "parent_id": "s1", "forked_from_turn": 2})
	s.write("s5", "metadata.json", "{")
	s.create("s7", map[string]any{"name": "both", "parent_id": "s1", "conflict_of": "s1", "forked_from_turn": 2, "forked_at": "2026-03-01T10:00:00+00:00"})
	for i, id := range []string{"s7", "s5", "s4", "s1-0000_agent", "s6", "s3", "s2", "s1"} {
		at := time.Now().Add(-time.Duration(i) * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(s.dir, id), at, at))
	}
	body := s.get(200, "/p/weather")
	require.Equal(t, []string{"both", "s5", "forked", "What is", "s3", "only a name", "a manifest"}, titles(body))
	require.Regexp(t, `damaged" data-id="s5"`, body)
	require.NotRegexp(t, `damaged" data-id="s4"`, body)
	require.Contains(t, body, `<span class="prompts">1 prompt</span>`)
	require.Contains(t, body, `<span class="prompts">2 prompts</span>`)
	require.Contains(t, body, `<span class="kind">fork</span>`)
	require.Contains(t, body, `<span class="kind">conflict copy</span>`)
	require.Contains(t, s.get(200, api("s1")+"/lineage"), `"kind":"conflict copy"`)
	require.Contains(t, body, `<a class="parent" href="/p/weather/s/s1"`)
	require.Contains(t, body, `status-completed">completed`)
	body = s.get(200, "/p/weather?all=1")
	require.Equal(t, []string{"both", "s5", "forked", "helper", "What is", "s3", "only a name", "a manifest"}, titles(body))
	require.Contains(t, body, `<span class="kind">sub-session</span>`)
	require.Contains(t, s.get(200, page("s1-0000_agent")), `href="/p/weather/s/s1-0000_agent" aria-current="page"`)
}

func TestListHasPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	now := time.Now()
	for i := range 2*pageSize + 5 {
		id := fmt.Sprintf("s%03d", i)
		s.write(id, "metadata.json", "{}")
		at := now.Add(-time.Duration(i) * time.Minute)
		require.NoError(t, os.Chtimes(filepath.Join(s.dir, id), at, at))
	}
	first := s.get(200, "/p/weather")
	require.Equal(t, "s000", titles(first)[0])
	require.Len(t, titles(first), pageSize)
	require.Contains(t, first, `href="/p/weather?page=1">older`)
	require.NotContains(t, first, `>newer`)
	last := s.get(200, "/p/weather?page=2")
	require.Equal(t, []string{"s200", "s201", "s202", "s203", "s204"}, titles(last))
	require.Contains(t, last, `href="/p/weather?page=1">newer`)
	require.Equal(t, last, s.get(200, "/p/weather?page=99"))
	require.Equal(t, first, s.get(200, "/p/weather?page=-4"))
	require.Equal(t, "s100", titles(s.get(200, page("s150")))[0])
}

func TestPanel(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, map[string]any{"manifest_name": "Research", "status": "in_progress", "bundle": "bundle:foundation"}, user("a"), user("b"))
	body := s.get(200, page(one))
	require.Contains(t, body, `<h1 id="title">Research</h1>`)
	require.Contains(t, body, `<span class="status-badge status-in_progress" id="status">in_progress</span>`)
	require.Contains(t, body, `aria-label="Close" title="Close (Esc)">×</a>`)
	require.Contains(t, body, `<footer class="panel-footer" id="footer">`)
	require.Contains(t, body, `>▶ Resume Session</button>`)
	require.Contains(t, body, `<dt>turns</dt><dd>2</dd>`)
	require.Contains(t, body, `<dd>foundation</dd>`)
	require.NotContains(t, body, `class="notice`)
	for _, status := range []string{"completed", "failed", "odd"} {
		_, err := s.store.UpdateMetadata(t.Context(), one, func(md *sessionstore.Metadata) error { return md.Set("status", status) })
		require.NoError(t, err)
		require.Contains(t, s.get(200, page(one)), `<footer class="panel-footer" id="footer" hidden>`, status)
	}
	require.Contains(t, s.get(404, page(two)), "Session "+two+" not found")

	s.create(two, map[string]any{"parent_id": one}, user("What is the weather?"))
	body = s.get(200, page(two))
	require.Contains(t, body, `<h1 id="title">What is the weather?</h1>`, "a session without a name has its first prompt")
	require.Contains(t, body, `<title>What is the weather?`)
	require.Contains(t, body, `<dt>id</dt><dd>`+two)
	require.Contains(t, s.get(200, api(one)+"/lineage"), `"title":"What is the weather?"`)
	s.create("empty", nil)
	require.Contains(t, s.get(200, page("empty")), `<h1 id="title">empty</h1>`)
}

func TestDamageIsShown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const good, bad = "{\"role\": \"user\", \"content\": \"x\"}\n", "{\"role\": \"us\x00\n"
	s.create(one, nil)
	s.write(one, "transcript.jsonl", good+bad)
	s.write(one, "transcript.jsonl.backup", bad)
	s.write(one, "phase_outputs.jsonl", "nonsense\n")
	s.write(one, "transcript.jsonl.damaged-20260301T100000Z", bad)
	body := s.get(200, page(one))
	require.Contains(t, body, `<strong>damage</strong> <span>transcript.jsonl: line 2 at byte 33: `)
	require.Contains(t, body, `<strong>damage</strong> <span>transcript.jsonl.backup: line 1 at byte 0: `)
	require.Contains(t, body, `<strong>damage</strong> <span>phase_outputs.jsonl: line 1 at byte 0: not a record</span>`)
	require.Contains(t, body, `damaged bytes are kept in transcript.jsonl.damaged-20260301T100000Z`)
	require.NotContains(t, body, s.dir)
	var h health
	s.json(api(one)+"/health", &h)
	require.True(t, h.Damaged)
	require.Equal(t, 1, h.Turns)

	s.create(two, nil)
	s.write(two, "transcript.jsonl", bad)
	s.write(two, "transcript.jsonl.backup", good+`{"role": "assistant", "tool_calls": [{"id": "c", "tool": "t", "arguments": {}}]}`+"\n")
	body = s.get(200, page(two))
	require.Contains(t, body, `<strong>recovered</strong> <span>read transcript.jsonl.backup instead; transcript.jsonl: line 1 at byte 0: `)
	require.Contains(t, body, `<strong>broken</strong> <span>the conversation cannot be continued: missing tool results; calls without a result: 1; recommended: repair`)
	h = health{}
	s.json(api(two)+"/health", &h)
	require.Equal(t, health{Recovered: true, Broken: true, Turns: 1, Notes: h.Notes}, h)
	require.Len(t, h.Notes, 2)
}

func TestLineage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create("root", map[string]any{"session_id": "root", "name": "the root"})
	s.create("fork", map[string]any{"session_id": "fork", "parent_id": "root", "forked_from_turn": 3, "forked_at": "2026-03-01T10:00:00+00:00", "turn_count": 3})
	s.create("fork-1_agent", map[string]any{"session_id": "fork-1_agent", "parent_id": "fork"})
	s.create("lost", map[string]any{"session_id": "lost", "parent_id": "gone"})
	require.JSONEq(t, `{"relatives": [
		{"id": "root", "title": "the root", "path": "/p/weather/s/root", "kind": "parent"},
		{"id": "fork-1_agent", "title": "fork-1_agent", "path": "/p/weather/s/fork-1_agent", "kind": "sub-session"}
	], "forked_from_turn": 3, "cyclic": false, "skipped": 0}`, s.get(200, api("fork")+"/lineage"))
	require.Contains(t, s.get(200, api("root")+"/lineage"), `{"id":"fork","title":"fork","path":"/p/weather/s/fork","kind":"fork","turn":3,"turns":3}`)
	require.Contains(t, s.get(200, api("lost")+"/lineage"), `{"id":"gone","title":"gone","path":"","kind":"parent"}`)
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	made := func(parts ...string) string {
		dir := filepath.Join(append([]string{root}, parts...)...)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		return dir
	}
	made("projects", "a", "sessions", one)
	made("projects", "b", "sessions")
	made("projects", "not a project")
	plain := made("plain", "s1")
	tests := []struct {
		name, dir string
		want      []string
	}{
		{"projects", filepath.Join(root, "projects"), []string{"a", "b"}},
		{"a project", filepath.Join(root, "projects", "a"), []string{"a"}},
		{"its sessions", filepath.Join(root, "projects", "a", "sessions"), []string{"a"}},
		{"sessions of another name", filepath.Dir(plain), []string{"plain"}},
	}
	for _, tt := range tests {
		p, err := OpenPlaces(tt.dir, nil)
		require.NoError(t, err, tt.name)
		names, err := p.names(t.Context())
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.want, names, tt.name)
		for _, name := range append(names, "new", "..") {
			_, err := p.place(t.Context(), name)
			require.Equal(t, name == "new" || name == "..", err != nil, name)
		}
		require.NoError(t, p.Close())
	}
	_, err := OpenPlaces(filepath.Join(root, "nothing"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoFileExists(t, filepath.Join(root, "projects", "new"))
}

func TestProjects(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	require.NoError(t, os.MkdirAll(filepath.Join(s.dir, "..", "..", "other", "sessions"), 0o700))
	answer, _ := s.send("GET", "/")
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Equal(t, "/p/weather", answer.Header.Get("Location"))

	s.stop()
	var err error
	s.places, err = OpenPlaces(filepath.Join(s.dir, "..", ".."), nil)
	require.NoError(t, err)
	s.serve()
	require.Equal(t, []string{"other", "weather"}, titles(s.get(200, "/")))
	body := s.get(200, "/p/other")
	require.Contains(t, body, `<a href="/p/weather">weather</a>`)
	require.Contains(t, body, `<a href="/p/other" aria-current="true">other</a>`)
	require.Contains(t, s.get(404, "/p/none"), "Not Found")
}

// TestProjectsAreDirectories shows a project as its directory, and of a long one the end, and by
// its name where no session names the directory.
func TestProjectsAreDirectories(t *testing.T) {
	t.Parallel()
	const long = "/home/ada/work/customers/of-the-north/payments/service-of-invoices"
	s := newSite(t)
	s.stop()
	root := t.TempDir()
	for project, metadata := range map[string]string{
		sessionstore.ProjectSlug("/home/ada/shop"): `{"working_dir": "/home/ada/shop", "name": "one"}`,
		sessionstore.ProjectSlug(long):             `{"working_dir": "` + long + `", "name": "two"}`,
		"-elsewhere":                               `{"working_dir": "/home/ada/shop", "name": "three"}`,
	} {
		dir := filepath.Join(root, project, "sessions", "s")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(metadata), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "transcript.jsonl"), []byte(`{"role": "user", "content": "q1"}`+"\n"), 0o600))
	}
	var err error
	s.places, err = OpenPlaces(root, nil)
	require.NoError(t, err)
	s.serve()
	start := s.get(200, "/")
	require.ElementsMatch(t, []string{"one", "two", "three", "/home/ada/shop", "…/payments/service-of-invoices", "-elsewhere"}, titles(start))
	require.Contains(t, start, `title="`+long+`"><span class="title">…/payments/service-of-invoices</span>`)
	require.Contains(t, start, `<span class="project-name" title="`+long+`">…/payments/service-of-invoices</span>`)
	list := s.get(200, pathOf(sessionstore.ProjectSlug(long), ""))
	require.Contains(t, list, "<title>"+long+" · sessions</title>")
	require.Contains(t, list, `<span class="project">`+long+`</span>`)
	require.Contains(t, list, `>/home/ada/shop</a></li>`)
	require.Contains(t, list, `>-elsewhere</a></li>`)
	require.Contains(t, list, `<main class="sidebar"`)
	require.Contains(t, s.get(200, "/search?q=q1"), `<p class="meta"><span>/home/ada/shop</span>`)
	require.Contains(t, s.get(200, pathOf(sessionstore.ProjectSlug(long), "")+"/usage"), `>`+long+`</a>`)
}

// TestOnward has the command that goes on in the tool from which a session came.
func TestOnward(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, map[string]any{"working_dir": "/home/ada", "import": map[string]any{"tool": "claude"}})
	s.create("plain", map[string]any{"working_dir": "/home/ada"})
	require.Contains(t, s.get(200, page(one)), `readonly>cd /home/ada &amp;&amp; sessions resume --with claude `+one+`</textarea>`)
	require.Contains(t, s.get(200, page(one)), `<h3>Go on in Claude Code, from which it came</h3>`)
	require.NotContains(t, s.get(200, page("plain")), "from which it came")
}
