package web

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

func TestFindInASession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil, user("Is it WARM in Zürich?"), map[string]any{"role": "assistant", "content": strings.Repeat("ä", 100) + "warm" + strings.Repeat("ö", 100)}, user("warmer"), map[string]any{"role": "tool", "tool_call_id": "x", "content": "warm"})
	var got struct {
		Hits []foundMessage
		More bool
	}
	s.json(api(one)+"/find?q=warm", &got)
	require.Equal(t, []foundMessage{
		{hit: hit{0, "user", "Is it ", "WARM", " in Zürich?"}},
		{hit: hit{1, "assistant", "…" + strings.Repeat("ä", 40), "warm", strings.Repeat("ö", 40) + "…"}},
		{hit: hit{2, "user", "", "warm", "er"}},
		{hit: hit{3, "tool", "", "warm", ""}, Folds: []int{0}},
	}, got.Hits)
	s.json(api(one)+"/find?q=.*", &got)
	require.Empty(t, got.Hits, "a text is no expression")
	s.get(400, api(one)+"/find")
	s.get(400, api(one)+"/find?q=%ff")
	s.get(400, api(one)+"/find?q="+strings.Repeat("x", maxQuery+1))
	s.get(404, api(two)+"/find?q=warm")
}

func TestSearchOneDirectory(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, map[string]any{"name": "first"}, user(`a "quoted" word & <b>`), user("quoted again"))
	s.create(two, map[string]any{"name": "second"}, user("nothing here"))
	body := s.get(200, "/p/weather/search?q=QUOTED")
	require.Contains(t, body, "This looks through what users and assistants wrote.")
	require.Contains(t, body, "1 session<")
	require.Contains(t, body, ">first</a>")
	require.NotContains(t, body, ">second</a>")
	require.Contains(t, body, `href="/p/weather/s/`+one+`#2"`)
	require.Contains(t, body, `<mark>quoted</mark>&#34; word &amp; &lt;b&gt;`)
	require.Contains(t, s.get(200, "/p/weather/search?q=%3Cscript%3E"), "0 sessions<")
	require.NotContains(t, s.get(200, "/p/weather/search?q=%3Cscript%3E"), "<script>")
	require.NotContains(t, s.get(200, "/search"), `role="status"`, "nothing was asked for")
	s.get(404, "/p/none/search?q=x")
	for _, name := range []string{"transcript.jsonl", "transcript.jsonl.backup"} {
		s.write(two, name, "{\"role\": \"user\", \"content\": \"quoted\"}\n{\"ro\n{}\n")
	}
	require.Contains(t, s.get(200, "/p/weather/search?q=quoted"), "some sessions are damaged")
}

func TestSearchProjects(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := filepath.Join(t.TempDir(), "projects")
	for _, name := range []string{"-one", "-two"} {
		st, err := sessionstore.Open(filepath.Join(dir, name, "sessions"), nil)
		require.NoError(t, err)
		md, err := sessionstore.NewMetadata(map[string]any{"name": "in " + name, "session_id": one, "created": "2026-03-01T09:00:00+00:00"})
		require.NoError(t, err)
		require.NoError(t, st.Create(t.Context(), one, md))
		m, err := sessionstore.NewMessage(user("Grüße\taus Graz"))
		require.NoError(t, err)
		require.NoError(t, st.Append(t.Context(), one, m))
		require.NoError(t, st.Close())
	}
	places, err := OpenPlaces(dir, nil)
	require.NoError(t, err)
	s.stop()
	s.places = places
	s.serve()
	body := s.get(200, "/search?q=gr%C3%BCsse")
	require.Contains(t, body, "0 sessions<")
	body = s.get(200, "/search?q=gr%C3%BC%C3%9Fe%09AUS")
	require.Contains(t, body, ">in -one</a>")
	require.Contains(t, body, ">in -two</a>")
	body = s.get(200, "/p/-two/search?q=graz")
	require.NotContains(t, body, ">in -one</a>")
	require.Contains(t, body, ">in -two</a>")
}

// TestSearchCompacted finds the calls that name a file, in a session that its tool compacted, and
// leads to what stood before.
func TestSearchCompacted(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "the paths are those of Unix")
	s := newSite(t)
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "c.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"type":"user","uuid":"1","parentUuid":null,"cwd":"/w","timestamp":"2026-03-04T10:00:01.000Z","message":{"content":"before"}}
{"type":"assistant","uuid":"2","parentUuid":"1","timestamp":"2026-03-04T10:00:02.000Z","message":{"id":"a","content":[{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"/w/b.go","old":"<i>"}},{"type":"tool_use","id":"u","name":"Bash","input":{"command":"cat b.go"}}]}}
{"type":"system","subtype":"compact_boundary","uuid":"3","parentUuid":null,"logicalParentUuid":"2","timestamp":"2026-03-04T10:00:03.000Z"}
{"type":"user","uuid":"5","parentUuid":"3","timestamp":"2026-03-04T10:00:05.000Z","message":{"content":"after"}}
{"type":"assistant","uuid":"6","parentUuid":"5","timestamp":"2026-03-04T10:00:06.000Z","message":{"id":"b","content":[{"type":"text","text":"answer"}]}}
`), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "-w", "sessions"), 0o700))
	places, err := OpenPlaces(dir, nil)
	require.NoError(t, err)
	report, err := foreign.Import(t.Context(), places.projects, foreign.History{Tool: foreign.Claude, ID: "c", Path: path, Dir: "/w"}, nil)
	require.NoError(t, err)
	s.stop()
	s.places = places
	s.serve()
	body, page := s.get(200, "/search?q=file:/w/x/../b.go"), "/p/"+report.Project+"/s/"+report.Sessions[0].ID
	require.Contains(t, body, `<a class="hit" href="`+page+`#2"><span class="role">assistant</span> <mark>Edit</mark> {&#34;file_path&#34;: &#34;/w/b.go&#34;, &#34;old&#34;: &#34;&lt;i&gt;`)
	require.Contains(t, body, `? <mark>Bash</mark> {`)
	require.Contains(t, s.get(200, "/search?q=file:/w/c.go"), "0 sessions<")
	require.Contains(t, s.get(200, page), `<a href="`+page+`/hidden">`)
	answer, _ := s.send(http.MethodGet, page+"/hidden")
	require.Regexp(t, `#5$`, answer.Header.Get("Location"))
}
