package recall

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/redact"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

const project = "-home-ada-demo"

// world are projects, and a client of a server that tells of them.
type world struct {
	t       testing.TB
	p       *projects.Projects
	st      *hybrid.Store // of project
	client  *mcp.Client
	session *mcp.ClientSession
}

func newWorld(t testing.TB, edit func(*Server), roots ...string) *world {
	t.Helper()
	p, err := projects.Open(t.TempDir(), &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	st, err := hybrid.Open(t.Context(), filepath.Join(p.Dir(), project, "sessions"), &hybrid.Options{
		Store: &sessionstore.Options{Durability: sessionstore.Relaxed}, Identity: "none", Project: project, Private: []string{"*private*"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	s := &Server{Projects: p, Rules: redact.Secrets().WithEnviron(nil), Here: project}
	if edit != nil {
		edit(s)
	}
	ctx, stop := context.WithCancel(context.Background())
	near, far := mcp.NewInMemoryTransports()
	ended := make(chan error)
	go func() { ended <- s.Run(ctx, far) }()
	c := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	if len(roots) > 0 {
		c = mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
		for _, dir := range roots {
			//lint:ignore SA1019 as such a client does
			c.AddRoots(&mcp.Root{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()})
		}
	}
	session, err := c.Connect(ctx, near, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, session.Close())
		stop()
		<-ended
	})
	return &world{t, p, st, c, session}
}

type object = map[string]any

// call calls a tool and returns what it tells, with the random key made one.
func (w *world) call(name string, args object) (answer, string) {
	w.t.Helper()
	got, err := w.session.CallTool(w.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	require.NoError(w.t, err)
	text := got.Content[0].(*mcp.TextContent).Text
	most := usualBytes
	if n, ok := args["max_bytes"].(int); ok && n > 0 {
		most = min(max(n, leastBytes), mostBytes)
	}
	require.LessOrEqual(w.t, len(text), most, "%v %v", name, args)
	out := answer{}
	if !got.IsError {
		require.NoError(w.t, json.Unmarshal([]byte(text), &out))
		structured, err := json.Marshal(got.StructuredContent)
		require.NoError(w.t, err)
		require.JSONEq(w.t, text, string(structured))
		key := regexp.MustCompile(`\[([A-Z2-7]{10}) and `).FindStringSubmatch(out.Note)[1]
		for i, r := range out.Rows {
			require.True(w.t, strings.HasPrefix(r.Text, "["+key+" ") && strings.HasSuffix(r.Text, key+"]"), r.Text)
			out.Rows[i].Text = strings.TrimSuffix(strings.TrimPrefix(r.Text, "["+key+" "), " "+key+"]")
		}
		text = strings.ReplaceAll(text, key, "KEY")
	}
	return out, text
}

// say makes a session of texts, of the user with every other one, and of members of its metadata.
func (w *world) say(st *sessionstore.Store, id string, members map[string]string, texts ...string) {
	w.t.Helper()
	for i, text := range texts {
		m, err := sessionstore.Text([]string{"user", "assistant"}[i%2], text, time.Date(2026, 11, 20, 10, 0, i, 0, time.UTC))
		require.NoError(w.t, err)
		require.NoError(w.t, st.Append(w.t.Context(), id, m))
	}
	_, err := st.UpdateMetadata(w.t.Context(), id, func(md *sessionstore.Metadata) (err error) {
		for name, value := range members {
			if err = md.Set(name, value); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(w.t, err)
}

func ids(a answer) (ids []string) {
	for _, r := range a.Rows {
		ids = append(ids, r.Session)
	}
	return ids
}

// TestTells asks each tool about a session that may be told.
func TestTells(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.say(w.st.Store, "one", map[string]string{"working_dir": "/home/ada/demo", "name": "The jwt token=ghp_0123456789abcdefghijABCDEFGHIJ012345"}, "why does the JWT refresh fail?", "The jwks cache was stale.")
	call, err := sessionstore.ToolCallMessage("I look.", time.Now(), sessionstore.ToolCall{ID: "c1", Name: "bash", Arguments: []byte(`{"command":"cat src/main.go"}`)})
	require.NoError(t, err)
	result, err := sessionstore.ToolResult("c1", "bash", "package main", time.Now())
	require.NoError(t, err)
	require.NoError(t, w.st.Append(t.Context(), "one", call, result))

	got, _ := w.call("search_sessions", object{"words": "refresh jwt"})
	require.Equal(t, []row{{Session: "one", Project: project, Tool: "native", Turn: 1, Time: "2026-11-20T10:00:00Z", Who: "user", Text: "why does the JWT refresh fail?"}}, got.Rows)
	for args, n := range map[string]int{`{"words":"jwks","who":"assistant"}`: 1, `{"words":"jwks","who":"user"}`: 0, `{"words":"main"}`: 0, `{"words":"main","who":"tool"}`: 2, `{"words":"jwks","tool":"codex"}`: 0, `{"words":"jwks","tool":"native"}`: 1, `{"words":"jwks","project":"other"}`: 0, `{"words":"jwks","before":"2001-01-01"}`: 0} {
		a := object{}
		require.NoError(t, json.Unmarshal([]byte(args), &a))
		got, _ := w.call("search_sessions", a)
		require.Len(t, got.Rows, n, args)
	}
	got, _ = w.call("list_sessions", nil)
	require.Len(t, got.Rows, 1)
	require.Equal(t, "The jwt token=[redacted:github-token]", got.Rows[0].Text)
	require.Equal(t, 1, got.Rows[0].Turns)
	got, _ = w.call("read_session", object{"session": "one"})
	who := ""
	for _, r := range got.Rows {
		who += r.Who + " "
	}
	require.Equal(t, "title user assistant assistant call result ", who)
	for path, n := range map[string]int{"/home/ada/demo/src/main.go": 1, "/home/ada/other/src/main.go": 0, "/home/ada/demo/src/main.g": 0} {
		got, _ = w.call("sessions_of_file", object{"path": path})
		require.Len(t, got.Rows, n, path)
		require.True(t, n == 0 || got.Rows[0].Guess)
	}
	got, _ = w.call("hidden_by_compaction", object{"session": "one"})
	require.Empty(t, got.Rows)

	tools, err := w.session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, tools.Tools, 5)
	for _, tool := range tools.Tools {
		require.True(t, tool.Annotations.ReadOnlyHint && tool.OutputSchema != nil, tool.Name)
		schema := string(quoted(tool.InputSchema))
		require.NotRegexp(t, `"all|"scope|"root`, schema, "whose sessions are told is no argument")
		for _, of := range foreign.Tools() {
			require.True(t, !strings.Contains(schema, "sessions of this program") || strings.Contains(schema, string(of)), of)
		}
	}
}

// TestHidden tells what stood before the compaction of a conversation that Claude Code compacted.
func TestHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *Server) { s.All = true })
	all, err := foreign.Find(t.Context(), foreign.Claude, &foreign.FindOptions{Home: "../../../../sessionstore/archive/foreign/testdata/claude"})
	require.NoError(t, err)
	at := slices.IndexFunc(all, func(h foreign.History) bool { return strings.HasPrefix(h.ID, "e89bc02d") })
	report, err := foreign.Import(t.Context(), w.p, all[at], nil)
	require.NoError(t, err)
	id, texts := report.Sessions[0].ID, []string{}
	got, _ := w.call("hidden_by_compaction", object{"session": id})
	for _, r := range got.Rows {
		texts = append(texts, fmt.Sprint(r.Turn, " ", r.Who, " ", r.Text))
	}
	require.Equal(t, []string{"0 title Plan the shop.", "1 prompt Plan the shop.", "1 answer A plan: list, cart, checkout.", "2 prompt Build the list.", "2 answer The list works."}, texts)
	require.Equal(t, id, got.Rows[0].Session)
	require.Equal(t, "claude", got.Rows[0].Tool)
	st, err := w.p.Store(report.Project)
	require.NoError(t, err)
	hidden, err := hybrid.Open(t.Context(), st.Dir(), &hybrid.Options{Store: &sessionstore.Options{Durability: sessionstore.Relaxed}})
	require.NoError(t, err)
	require.NoError(t, hidden.Hide(t.Context(), id))
	require.NoError(t, hidden.Close())
	_, is := w.call("hidden_by_compaction", object{"session": id})
	_, none := w.call("hidden_by_compaction", object{"session": "nobody"})
	require.Equal(t, none, is)
}

// TestParts reads a long session in parts, which are together all of it.
func TestParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	r := testenv.Rand(t)
	var want, got strings.Builder
	for i := range 12 {
		text := fmt.Sprint(i, strings.Repeat([]string{"word ", "\"<é>\n", "\u202e\x1b"}[r.IntN(3)], r.IntN(4000)), ".")
		w.say(w.st.Store, "long", nil, text)
		for _, c := range text {
			want.WriteString(visible(c))
		}
	}
	args := object{"session": "long", "turn": 1}
	for parts := 1; ; parts++ {
		require.Less(t, parts, 200)
		args["max_bytes"] = []int{0, 1, 1500, 4000, 100_000}[r.IntN(5)]
		a, _ := w.call("read_session", args)
		for _, row := range a.Rows {
			if row.Who != "title" {
				got.WriteString(row.Text)
			}
		}
		if a.Next == "" {
			break
		}
		require.NotEqual(t, args["from"], a.Next)
		args["from"] = a.Next
	}
	require.Equal(t, want.String(), got.String())
	require.NotContains(t, got.String(), "\x1b")

	for i := range 60 {
		w.say(w.st.Store, fmt.Sprintf("s%02d", i), nil, "needle "+strings.Repeat("hay ", 200))
	}
	for _, tool := range []string{"search_sessions", "list_sessions"} {
		seen, args := map[string]bool{}, object{"max_bytes": 3000}
		if tool == "search_sessions" {
			args["words"] = "NEEDLE"
		}
		for more := true; more; more = args["from"] != "" {
			a, _ := w.call(tool, args)
			for _, id := range ids(a) {
				require.False(t, seen[id], id)
				seen[id] = true
			}
			args["from"] = a.Next
		}
		require.GreaterOrEqual(t, len(seen), 60, tool)
	}
}

// TestVisible: what a person does not see, or a terminal obeys, is told as its number.
func TestVisible(t *testing.T) {
	t.Parallel()
	for _, r := range "\x00\x1b\x7f\u0085\u00ad\u200b\u200d\u200f\u202e\u2028\u2066\u2069\ufeff\ufe0f\u3164\U000E0041\U000E0100\U000F0000" {
		require.Equal(t, fmt.Sprintf(`\u{%X}`, r), visible(r))
	}
	for _, r := range "a é漢🙂\n\t\"\\" {
		require.Equal(t, string(r), visible(r))
	}
}

// TestWhose tells of the projects of the client's roots, else of the working directory, else of all.
func TestWhose(t *testing.T) {
	t.Parallel()
	roots := []string{t.TempDir(), filepath.Join(t.TempDir(), "ä 100% of it")}
	require.NoError(t, os.Mkdir(roots[1], 0o700))
	for i, c := range []struct {
		edit  func(*Server)
		roots []string
		want  []string
	}{
		{nil, nil, []string{"here"}},
		{nil, roots[:1], []string{"root0"}},
		{nil, roots, []string{"root0", "root1"}},
		{func(s *Server) { s.Project = project }, roots, []string{"here"}},
		{func(s *Server) { s.Here = "-home-new" }, nil, nil},
		{func(s *Server) { s.All = true }, nil, []string{"here", "root0", "root1"}},
	} {
		w := newWorld(t, c.edit, c.roots...)
		w.say(w.st.Store, "here", nil, "needle")
		for i, dir := range roots {
			dir, err := filepath.EvalSymlinks(dir)
			require.NoError(t, err)
			st, err := w.p.Store(sessionstore.ProjectSlug(dir))
			require.NoError(t, err)
			w.say(st, fmt.Sprint("root", i), nil, "needle")
		}
		got, _ := w.call("search_sessions", object{"words": "needle"})
		require.ElementsMatch(t, c.want, ids(got), i)
		got, _ = w.call("list_sessions", nil)
		require.ElementsMatch(t, c.want, ids(got), i)
		for _, id := range []string{"here", "root0", "root1"} {
			_, text := w.call("read_session", object{"session": id})
			_, none := w.call("read_session", object{"session": "nobody"})
			require.Equal(t, strings.Contains(fmt.Sprint(c.want), id), text != none, "%d %s", i, id)
		}
		require.NoDirExists(t, filepath.Join(w.p.Dir(), "-home-new"))
	}
}

// TestMute: a client that leaves the question for its directories unanswered is asked once, and
// gets an answer about the working directory; when it has answered, about what it said.
func TestMute(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	speak, asked := make(chan struct{}), make(chan struct{}, 100)
	w := newWorld(t, nil, dir)
	w.client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "roots/list" {
				asked <- struct{}{}
				<-speak
			}
			return next(ctx, method, r)
		}
	})
	w.say(w.st.Store, "here", nil, "needle")
	st, err := w.p.Store(sessionstore.ProjectSlug(dir))
	require.NoError(t, err)
	w.say(st, "root", nil, "needle")
	start := time.Now()
	for range 20 {
		got, _ := w.call("list_sessions", nil)
		require.Equal(t, []string{"here"}, ids(got))
	}
	testenv.Timely(t, "20 calls of a mute client", time.Since(start), 4*time.Second)
	require.Len(t, asked, 1)
	close(speak)
	require.Eventually(t, func() bool {
		got, _ := w.call("list_sessions", nil)
		return slices.Equal([]string{"root"}, ids(got))
	}, time.Minute, time.Millisecond)
}

// TestGrowsAndVanishes reads a session that grows between two parts, and one whose project is
// removed between the list and the reading. Nothing of it comes back.
func TestGrowsAndVanishes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.say(w.st.Store, "s", nil, "first", strings.Repeat("long ", 2000))
	first, _ := w.call("read_session", object{"session": "s"})
	require.NotEmpty(t, first.Next)
	w.say(w.st.Store, "s", nil, "second")
	all := ""
	for from := first.Next; from != ""; {
		a, _ := w.call("read_session", object{"session": "s", "from": from})
		from = a.Next
		for _, r := range a.Rows {
			all += r.Text
		}
	}
	require.True(t, strings.HasSuffix(all, "long second"), "what was said goes on where the former part ended")
	got, _ := w.call("list_sessions", nil)
	require.Equal(t, []string{"s"}, ids(got))
	require.NoError(t, os.RemoveAll(filepath.Join(w.p.Dir(), project)))
	_, gone := w.call("read_session", object{"session": "s"})
	require.NotContains(t, gone, "second")
	got, _ = w.call("search_sessions", object{"words": "second"})
	require.Empty(t, got.Rows)
	got, _ = w.call("list_sessions", nil)
	require.Empty(t, got.Rows)
	require.NoDirExists(t, filepath.Join(w.p.Dir(), project))
}

// plant makes sessions of which nothing may be told, and returns what may not, and words to ask
// for. Secrets are at the ends and in the middle of what is told of others.
func plant(w *world, r *rand.Rand) (never, secrets, ask []string) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return string(b)
	}
	plain := func(n int) string { return strings.Repeat("plain words of nothing ", n) }
	for i := range 120 {
		secret := "ghp_" + random(36)
		form := []string{secret, "key sk-ant-api03-" + secret[4:] + secret[4:] + " ", "https://ada:" + secret + "@example.com/", `{"password": "` + secret + `"}`, "export API_TOKEN=" + secret}[i%5]
		text := []string{form, plain(i) + form, plain(21) + form + plain(5), form + plain(40)}[i/5%4]
		id := fmt.Sprintf("open%03d", i)
		switch i % 3 {
		case 0:
			w.say(w.st.Store, id, nil, text, "an answer")
		case 1:
			w.say(w.st.Store, id, map[string]string{"name": text}, "a prompt", text)
		default:
			call, err := sessionstore.ToolCallMessage("I look.", time.Now(), sessionstore.ToolCall{ID: "c", Name: "bash", Arguments: quoted(object{"command": text})})
			require.NoError(w.t, err)
			result, err := sessionstore.ToolResult("c", "bash", text, time.Now())
			require.NoError(w.t, err)
			w.say(w.st.Store, id, nil, "a prompt")
			require.NoError(w.t, w.st.Append(w.t.Context(), id, call, result))
		}
		secrets = append(secrets, secret)
		for at := range len(secret) - 8 { // no part of it
			never = append(never, secret[at:at+8])
		}
	}
	for i := range 20 {
		for _, kind := range []string{"priv", "hid", "bin"} {
			id, mark := kind+random(8), "Q"+random(12)
			name := map[string]string{"priv": "my private " + mark, "hid": mark, "bin": mark}[kind]
			w.say(w.st.Store, id, map[string]string{"name": name, "working_dir": "/w"}, "a prompt of "+mark, "an answer of "+mark)
			w.say(w.st.Store, "of-"+id, map[string]string{"parent_id": id, "name": "child " + mark}, "a prompt of "+mark)
			if kind == "hid" {
				require.NoError(w.t, w.st.Hide(w.t.Context(), id))
			}
			if kind == "bin" {
				o := &trash.Options{Quiet: -1, Descendants: i%2 == 0, Allow: []trash.Kind{trash.Parent}}
				_, err := trash.Delete(w.t.Context(), w.st.Store, []string{id}, o)
				require.NoError(w.t, err)
			}
			never, ask = append(never, id, mark), append(ask, id, "of-"+id, mark)
		}
	}
	return never, secrets, ask
}

// TestNeverTold asks at random about what may not be told, and guesses secrets.
func TestNeverTold(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t, nil), testenv.Rand(t)
	never, secrets, ask := plant(w, r)
	words := append(strings.Fields("plain words prompt answer redacted token password bash ghp_ sk-ant api of open e a 0"), ask...)
	forbidden, told := map[string]bool{}, 0
	for _, text := range never {
		forbidden[text[:8]] = true
	}
	check := func(name string, args object) answer {
		got, text := w.call(name, args)
		for at := range max(0, len(text)-7) {
			if forbidden[text[at:at+8]] {
				require.Fail(t, "told", "%s %v: %s", name, args, text[at:at+8])
			}
		}
		told += len(got.Rows)
		return got
	}
	for range testenv.Share(60, 200, 2000) {
		word := func() string {
			if s := secrets[r.IntN(len(secrets))]; r.IntN(3) == 0 {
				from := r.IntN(len(s))
				return s[from : from+1+r.IntN(len(s)-from)]
			}
			return words[r.IntN(len(words))]
		}
		args := object{"max_bytes": r.IntN(2) * r.IntN(45_000), "from": []string{"", fmt.Sprintf("%d.%d.%d", r.IntN(3), r.IntN(9), r.IntN(3)*r.IntN(900))}[r.IntN(2)]}
		name := []string{"search_sessions", "list_sessions", "read_session", "hidden_by_compaction", "sessions_of_file"}[r.IntN(5)]
		switch name {
		case "search_sessions":
			args["words"], args["who"] = strings.TrimSpace(word()+[]string{" ", " " + word()}[r.IntN(2)]), []string{"", "user", "assistant", "tool"}[r.IntN(4)]
		case "list_sessions":
			args["project"] = []string{"", project, word()}[r.IntN(3)]
		case "sessions_of_file":
			args["path"] = "/w/" + word()
		default:
			args["session"] = []string{word(), fmt.Sprintf("open%03d", r.IntN(120))}[r.IntN(2)]
		}
		check(name, args)
	}
	require.Greater(t, told, 100)
	for _, s := range testenv.Some(t, testenv.Share(4, 10, 40), secrets...) {
		for n := 6; n <= len(s); n += 1 + r.IntN(3) {
			for _, who := range []string{"", "tool"} {
				require.Empty(t, check("search_sessions", object{"words": s[:n], "who": who}).Rows, s[:n])
			}
		}
	}
	w.say(w.st.Store, "digits", nil, "11 22 password=Zx9kQw7vTr5pLm3nBd")
	for c := '!'; c <= '~'; c++ { // no character of the secret, and none of what stands for it
		for _, row := range check("search_sessions", object{"words": "22 " + string(c), "who": "user"}).Rows {
			require.True(t, row.Session != "digits" || strings.ContainsRune("12password=", c|0x20) || strings.ContainsRune("PASWORD", c), "%c", c)
		}
	}
}

// TestSameAsNobody: the answer about a session that may not be told is that about one that never
// was, in each byte.
func TestSameAsNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, _, ask := plant(w, testenv.Rand(t))
	hold, err := w.st.Acquire(t.Context(), "open000", sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	defer func() { require.NoError(t, hold.Release()) }()
	for _, tool := range []string{"read_session", "hidden_by_compaction", "search_sessions", "sessions_of_file"} {
		about := map[string]string{"search_sessions": "words", "sessions_of_file": "path"}[tool]
		for _, from := range []string{"", "1.1.0"} {
			nobody := func(id string) string {
				_, text := w.call(tool, object{map[bool]string{true: "session", false: about}[about == ""]: id, "from": from})
				return text
			}
			want := nobody("Qnobody-was-here")
			for _, id := range append([]string{"open000", "../" + project + "/sessions/open001", ""}, ask...) {
				if about == "" || len(id) > 10 {
					require.Equal(t, want, nobody(id), id)
				}
			}
		}
	}
}
