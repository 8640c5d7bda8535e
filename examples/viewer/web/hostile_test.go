package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// Texts that try to become markup, an attribute or a link, to a browser or to a
// terminal. All that they would make is named zz.
const (
	hostileText = `"'><zz-tag onzz=zz()></zz-tag><script>zz()</script><img src=zz onerror=zz()><svg onload=zz()><a href="javascript:zz()">` +
		`' onzz='zz()' " onzz="zz() </pre></title></textarea>--><iframe srcdoc=zz></iframe> javascript:zz() {{zz}} ${zz}` +
		"\x1b]8;;javascript:zz()\a\x1b[31mzz\x1b[0m\x7f\u0085\u202egpj.zz\u2066\u2028\b\r\n"
	hostileMarkdown = hostileText + "\n\n[zz](javascript:zz()) [zz](JaVaScRiPt:zz()) [zz](java\tscript:zz()) [zz](&#106;avascript:zz()) [zz](data:text/html,zz) [zz](vbscript:zz()) " +
		"[zz](/assets/app.js) [zz](//zz.example) [zz](zz) [zz](file:///zz) [zz](https://zz.example/\"onzz=\"zz()) ![zz](javascript:zz()) ![zz\" onzz=\"zz()](https://zz.example) <javascript:zz()> <https://zz.example/\"onzz=zz()>\n\n" +
		"[ref]: javascript:zz() \"zz\" \n[ref] [zz][ref]\n\n```zz\" onzz=\"zz()\n</code></pre><zz-tag>\n```\n\n<iframe srcdoc=\"zz\"></iframe>\n\n<style>zz</style>\n\n| <zz-tag> |\n|---|\n| <img src=zz onerror=zz()> |\n"
)

// TestHostileTexts asks for every page and every answer about sessions of which all
// texts are hostile, also about those that were imported from other tools.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := filepath.Join(t.TempDir(), "projects")
	p, err := projects.Open(dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	sessions := s.importHostile(p)
	require.NoError(t, p.Close())
	name := "-home-<zz-tag>\"onzz='zz()'"
	s.store, err = sessionstore.Open(filepath.Join(dir, name, "sessions"), &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	s.dir = s.store.Dir()
	s.hostileSession()
	require.NoError(t, s.store.Close())
	sessions = append(sessions, [2]string{name, one}, [2]string{name, two})

	s.stop()
	s.places, err = OpenPlaces(dir, []workflow.Manifest{manifest})
	require.NoError(t, err)
	s.serve()
	asked := map[string]int{}
	for _, path := range []string{"GET /{$}", "GET /search", "GET /usage"} {
		s.hostile(asked, path, "", "")
	}
	for _, at := range sessions {
		for pattern := range (&Server{}).routes() {
			if strings.HasPrefix(pattern, "GET ") && strings.Contains(pattern, "{project}") {
				s.hostile(asked, pattern, at[0], at[1])
			}
		}
	}
	for pattern := range (&Server{}).routes() {
		if strings.HasPrefix(pattern, "GET ") {
			require.Positive(t, asked[pattern], pattern)
		}
	}
	for _, path := range []string{"/" + url.PathEscape(hostileText), "/assets/" + url.PathEscape(hostileText), "/p/" + url.PathEscape(hostileText), "/p/x/s/" + url.PathEscape(hostileText), "/api/p/" + url.PathEscape(hostileText) + "/s/x/messages"} {
		s.inert(path)
	}
}

// hostile asks for the addresses of a route.
func (s *site) hostile(asked map[string]int, pattern, project, session string) {
	s.Helper()
	path := strings.NewReplacer("GET ", "", "{project}", url.PathEscape(project), "{session}", url.PathEscape(session), "{$}", "", "{phase}", "1").Replace(pattern)
	queries := []string{""}
	switch {
	case strings.HasSuffix(pattern, "/stream"):
		s.hostileStream(path)
		asked[pattern]++
		return
	case strings.HasSuffix(pattern, "/search"), strings.HasSuffix(pattern, "/find"):
		queries = []string{"?q=zz", "?q=" + url.QueryEscape(hostileText[:40])}
	case strings.HasSuffix(pattern, "/export"):
		queries = []string{"?format=md", "?format=html", "?format=jsonl", "?format=tar", "?format=" + url.QueryEscape(hostileText)}
	case strings.HasSuffix(pattern, "/events"):
		queries = append(queries, "?name="+url.QueryEscape(hostileText), "?log="+url.QueryEscape(hostileText))
	case strings.HasSuffix(pattern, "/event"):
		queries = []string{"?at=" + url.QueryEscape(hostileText)}
		var events struct{ Rows []struct{ At string } }
		s.json(path+"s", &events)
		for _, row := range events.Rows {
			queries = append(queries, "?at="+row.At, "?at="+row.At+"&download")
		}
	case strings.Contains(pattern, "{n}"):
		queries = []string{"0", "1", "2", "3", url.PathEscape(hostileText)}
		for _, n := range queries {
			s.inert(strings.Replace(path, "{n}", n, 1))
		}
		asked[pattern]++
		return
	case pattern == "GET /p/{project}":
		queries = append(queries, "?all=1")
	}
	for _, query := range queries {
		s.inert(path + query)
	}
	asked[pattern]++
}

// inert asks for an address, and looks whether what comes is inert.
func (s *site) inert(path string) {
	s.Helper()
	answer, body := s.send(http.MethodGet, path)
	require.Less(s, answer.StatusCode, 500, "%s: %s", path, body)
	require.Equal(s, policy, answer.Header.Get("Content-Security-Policy"))
	require.Equal(s, "nosniff", answer.Header.Get("X-Content-Type-Options"))
	for name, values := range answer.Header {
		if name != "Location" {
			require.NotContains(s, strings.Join(values, " "), "zz", "%s: %s", path, name)
		}
	}
	saved := strings.HasPrefix(answer.Header.Get("Content-Disposition"), "attachment;")
	kind, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	switch {
	case kind == "application/json":
		var v any
		require.NoError(s, json.Unmarshal([]byte(body), &v), path)
		s.inertJSON(path, v)
	case kind == "text/html":
		page := pageRules
		if saved {
			page = savedRules
		}
		s.inertHTML(path, body, page)
	case kind == "text/plain", saved, answer.StatusCode == http.StatusSeeOther:
	default:
		require.Fail(s, "another kind of answer", "%s: %s", path, kind)
	}
	if !saved && !strings.HasSuffix(path, "/line") && kind != "text/plain" {
		require.False(s, strings.ContainsAny(body, bidiControls), path)
	}
}

// inertJSON looks for HTML in an answer: the scripts put it into the page as it is,
// and all other texts as text.
func (s *site) inertJSON(path string, v any) {
	s.Helper()
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			s.inertJSON(path, e)
		}
	case map[string]any:
		for name, e := range v {
			if text, ok := e.(string); ok && name == "html" {
				s.inertHTML(path, text, markdownRules)
			}
			s.inertJSON(path, e)
		}
	}
}

// rules are what HTML may consist of.
type rules struct {
	elements   string // names
	attributes string // names
	link       func(string) bool
}

var (
	pageRules = rules{
		"html head meta title link script body main section header nav footer form input textarea button select option label h1 h2 h3 p a span ul ol li dl div dt dd dialog details summary kbd strong time mark table thead tbody tr th td figure figcaption svg g rect",
		"lang charset name content rel href type src class id aria-label aria-labelledby aria-current aria-controls aria-selected aria-pressed aria-hidden aria-haspopup aria-live role tabindex hidden title value placeholder maxlength min rows inputmode autocomplete autofocus readonly download method action for scope datetime disabled selected data-stream data-id data-to data-api data-project data-own data-first data-write data-logs viewbox x y width height",
		func(to string) bool {
			return strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") || strings.HasPrefix(to, "#") || to == ""
		},
	}
	markdownRules = rules{
		"html head body p br hr strong em del pre code blockquote ul ol li h1 h2 h3 h4 h5 h6 table thead tbody tr th td a",
		"start class href rel target",
		func(to string) bool { return strings.HasPrefix(to, "https://zz.example") },
	}
	savedRules = rules{
		pageRules.elements + " " + markdownRules.elements + " style article b i small",
		pageRules.attributes + " open http-equiv dir",
		func(to string) bool { return strings.HasPrefix(to, "#turn-") },
	}
)

func (s *site) inertHTML(path, body string, allowed rules) {
	s.Helper()
	doc, err := html.Parse(strings.NewReader(body))
	require.NoError(s, err)
	elements, attributes := strings.Fields(allowed.elements), strings.Fields(allowed.attributes)
	for n := range doc.Descendants() {
		require.NotEqual(s, html.CommentNode, n.Type, path)
		if n.Type != html.ElementNode {
			continue
		}
		require.Contains(s, elements, n.Data, path)
		if n.Data == "script" || n.Data == "style" {
			require.False(s, n.FirstChild != nil && strings.Contains(n.FirstChild.Data, "zz"), path)
		}
		for _, a := range n.Attr {
			require.Contains(s, attributes, a.Key, "%s: %s", path, n.Data)
			if slices.Contains([]string{"href", "src", "action"}, a.Key) {
				require.True(s, allowed.link(a.Val), "%s: %s", path, a.Val)
			}
			if a.Key == "class" || a.Key == "id" {
				require.NotRegexp(s, `[^A-Za-z0-9 _-]`, a.Val, path)
			}
		}
	}
}

// hostileStream looks at what a stream tells first.
func (s *site) hostileStream(path string) {
	s.Helper()
	live := s.listen(path)
	live.next("ready")
	live.close()
}

// hostileSession writes a session, a fork of it, and all that stands beside them.
func (s *site) hostileSession() {
	all := map[string]any{}
	for _, name := range []string{"name", "model", "bundle", "working_dir", "status", "manifest_name", "created", "description", "forked_at"} {
		all[name] = hostileText
	}
	s.create(one, all, user(hostileText), map[string]any{
		"role": "assistant", "content": hostileMarkdown, "thinking_block": map[string]any{"text": hostileText}, "timestamp": hostileText,
		"tool_calls": []any{map[string]any{"id": hostileText, "tool": hostileText, "arguments": map[string]any{hostileText: hostileText}}},
	}, answered(hostileText, hostileText), answered("none "+hostileText, hostileText))
	require.NoError(s, s.store.Create(s.Context(), two, func() sessionstore.Metadata {
		all["parent_id"], all["forked_from_turn"] = one, 1
		md, err := sessionstore.NewMetadata(all)
		require.NoError(s, err)
		return md
	}()))
	s.add(two, map[string]any{"role": hostileText, "content": hostileText}, map[string]any{"role": "user", "content": []any{map[string]any{"type": hostileText, "x": hostileText}}})
	text := string(encoded(s, hostileText))
	s.write(one, "phase_outputs.jsonl", fmt.Sprintf(`{"id": 1, "phase_id": %[1]s, "phase_name": %[1]s, "status": %[1]s, "system_prompt": %[1]s, "user_input": %[1]s, "output": %[1]s, "error": %[1]s, "created_at": %[1]s, "updated_at": %[1]s}`+"\n<zz-tag>\n", text))
	s.write(one, "session_conversation.jsonl", fmt.Sprintf(`{"id": 1, "phase_id": %[1]s, "role": %[1]s, "content": %[1]s, "created_at": %[1]s}`+"\n"+`{"id": 2, "role": "assistant", "content": %[2]s, "created_at": "x"}`+"\n", text, encoded(s, hostileMarkdown)))
	event := fmt.Sprintf(`{"ts": "2026-03-01T12:00:00+00:00", "lvl": %[1]s, "event": %[1]s, "session_id": %[1]s, "data": {%[1]s: %[1]s}}`+"\n", text)
	event += fmt.Sprintf(`{"ts": "2026-03-01T12:00:00+00:00", "event": "llm:response", "session_id": %[1]s, "data": {"response_id": %[1]s, "provider": %[1]s, "model": %[1]s, "usage": {"input_tokens": 3, "output_tokens": 4, "cost_usd": "0.25"}}}`+"\n", text)
	s.write(one, "events.jsonl", event)
	s.write(one, "transcript.jsonl.damaged-<zz-tag onzz=zz>", "x")
	s.write(two, "metadata.json.backup", s.read(two, "metadata.json"))
	s.write(two, "metadata.json", `{"name": `+text)
	state, err := agentstate.Open(s.store, one, nil)
	require.NoError(s, err)
	require.NoError(s, state.KeepPending(s.Context(), hostileText, encoded(s, map[string]any{"tool": hostileText})))
	require.NoError(s, state.AddApprovedCommand(s.Context(), "echo "+strings.NewReplacer("\r", "", "\n", "").Replace(hostileText)))
	require.NoError(s, state.Close())
}

func encoded(t require.TestingT, v any) json.RawMessage {
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

// importHostile imports a history of each tool, and returns where they are.
func (s *site) importHostile(p *projects.Projects) (all [][2]string) {
	text, markdown := encoded(s, hostileText), encoded(s, hostileMarkdown)
	arguments := encoded(s, string(encoded(s, map[string]any{"command": hostileText})))
	for tool, lines := range map[foreign.Tool]string{
		foreign.Claude: fmt.Sprintf(`{"type":"custom-title","customTitle":%[1]s,"sessionId":"c"}
{"type":"user","uuid":"1","parentUuid":null,"cwd":%[1]s,"gitBranch":%[1]s,"timestamp":"2026-03-04T10:00:00.000Z","message":{"role":"user","content":%[1]s}}
{"type":"assistant","uuid":"2","parentUuid":"1","cwd":%[1]s,"timestamp":"2026-03-04T10:00:01.000Z","message":{"id":%[1]s,"model":%[1]s,"role":"assistant","content":[{"type":"text","text":%[2]s},{"type":"tool_use","id":%[1]s,"name":%[1]s,"input":{%[1]s:%[1]s}}]}}
{"type":"user","uuid":"3","parentUuid":"2","cwd":%[1]s,"timestamp":"2026-03-04T10:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%[1]s,"content":%[1]s}]}}
`, text, markdown),
		foreign.Codex: fmt.Sprintf(`{"timestamp":"2026-03-04T10:00:00.000Z","type":"session_meta","payload":{"id":%[1]s,"timestamp":"2026-03-04T10:00:00.000Z","cwd":%[1]s,"originator":%[1]s,"cli_version":%[1]s,"source":"cli","model_provider":%[1]s}}
{"timestamp":"2026-03-04T10:00:01.000Z","type":"turn_context","payload":{"cwd":%[1]s,"model":%[1]s}}
{"timestamp":"2026-03-04T10:00:02.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%[1]s}]}}
{"timestamp":"2026-03-04T10:00:03.000Z","type":"response_item","payload":{"type":"function_call","name":%[1]s,"arguments":%[3]s,"call_id":%[1]s}}
{"timestamp":"2026-03-04T10:00:04.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":%[1]s,"output":%[1]s}}
{"timestamp":"2026-03-04T10:00:05.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":%[2]s}]}}
`, text, markdown, arguments),
	} {
		path := filepath.Join(s.TempDir(), "history.jsonl")
		require.NoError(s, os.WriteFile(path, []byte(lines), 0o600))
		report, err := foreign.Import(s.Context(), p, foreign.History{Tool: tool, ID: string(tool), Path: path, Dir: "/" + hostileText, Folder: "-" + string(tool), Title: hostileText}, nil)
		require.NoError(s, err)
		require.NotEmpty(s, report.Sessions)
		for _, session := range report.Sessions {
			all = append(all, [2]string{report.Project, session.ID})
		}
	}
	return all
}
