package recall

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestProjectNames: a secret in the name of a project is neither told nor guessed.
func TestProjectNames(t *testing.T) {
	t.Parallel()
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	w := newWorld(t, func(s *Server) { s.All = true })
	st, err := w.p.Store("-w-" + secret)
	require.NoError(t, err)
	w.say(st, "s", nil, "needle")
	for name, n := range map[string]int{"": 1, "-w-": 1, "ghp_": 0, secret: 0} {
		for tool, args := range map[string]object{"list_sessions": {"project": name}, "search_sessions": {"project": name, "words": "needle"}} {
			got, text := w.call(tool, args)
			require.Len(t, got.Rows, n, "%s %q", tool, name)
			require.NotContains(t, text, secret[5:12])
		}
	}
}

// row makes a row all that the session s has.
func (w *world) row(row string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(filepath.Join(w.st.Dir(), "s", "transcript.jsonl"), []byte(row+"\n"), 0o600))
}

// TestSecretsInParts: what is no secret in a text of a list alone, but is one with its neighbours,
// is not told, whichever tool tells of it.
func TestSecretsInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.say(w.st.Store, "s", nil, "a prompt")
	const key, body = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq9Z1Qx", "q8Jv0sd8f7Kjh3Lk2Mn1Bv5Cx4Za9Qw8Er7Ty6Ui5Op4"
	blocks := func(texts ...string) (all []object) {
		for _, text := range texts {
			all = append(all, object{"type": "text", "text": text})
		}
		return all
	}
	call := func(arguments any) object {
		return object{"role": "assistant", "content": "I look.", "tool_calls": []object{{"id": "c", "tool": "bash", "arguments": arguments}}}
	}
	command := func(words ...string) object {
		return object{"command": words, "n": int64(12345678901234567), "path": "/w/a.go"}
	}
	for _, c := range []struct {
		never string
		row   object
	}{
		{body, object{"role": "user", "content": blocks("needle", key, body, "-----END RSA PRIVATE KEY----- needle")}},
		{body, object{"role": "tool", "tool_call_id": "c", "content": blocks(key, body+"\n-----END RSA PRIVATE KEY-----", "needle")}},
		{body, object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": "c", "content": blocks(key, body+"\n-----END RSA PRIVATE KEY-----", "needle")}}}},
		{"ABCDEFGHIJ012345", object{"role": "assistant", "content": blocks("needle ghp_0123456789", "abcdefghij", "ABCDEFGHIJ012345")}},
		{"ABCDEFGHIJ012345", object{"role": "assistant", "content": append(blocks("ghp_0123456789abcdefghij", "ABCDEFGHIJ012345"), object{"type": "tool_use", "id": "c", "name": "needle", "input": command("ls")})}},
		{"hunter2secret9X", call(command("curl", "-u", "ada:hunter2secret9X", "needle"))},
		{"hunter2secret9X", call(command("curl", "-u", "ada:hunter2secret9X", "needle", "ghp_0123456789abcdefghij", "ABCDEFGHIJ012345"))},
		{"hunter2secret9X", call(string(quoted(command("curl", "-u", "ada:hunter2secret9X", "needle"))))},
		{"ABCDEFGHIJ012345", call(object{"edits": []any{command("needle", "ghp_0123456789abcdefghij", "ABCDEFGHIJ012345")}})},
		{"ABCDEFGHIJ012345", object{"role": "assistant", "content": []object{{"type": "tool_use", "id": "c", "name": "bash", "input": command("needle", "ghp_0123456789abcdefghij", "ABCDEFGHIJ012345")}}}},
	} {
		row := quoted(c.row)
		w.row(string(row))
		told, text := w.call("read_session", object{"session": "s"})
		require.Contains(t, text, "[redacted:", "%s", row)
		require.Contains(t, text, "needle", "%s", row)
		require.Equal(t, strings.Contains(string(row), "12345678901234567"), strings.Contains(text, "12345678901234567"), "%s", row)
		require.NotContains(t, text, c.never, "%s", row)
		for _, who := range []string{"", "tool"} {
			got, text := w.call("search_sessions", object{"words": "needle", "who": who})
			tool := told.Rows[len(told.Rows)-1].Who
			require.Equal(t, (who == "tool") == (tool == "call" || tool == "result"), len(got.Rows) == 1, "%s", row)
			require.NotContains(t, text, c.never)
			got, _ = w.call("search_sessions", object{"words": c.never, "who": who})
			require.Empty(t, got.Rows, "%s", row)
		}
		got, text := w.call("sessions_of_file", object{"path": "/w/a.go"})
		require.Equal(t, strings.Contains(string(row), "a.go"), len(got.Rows) == 1, "%s", row)
		require.NotContains(t, text, c.never)
	}
	row := quoted(object{"role": "assistant", "content": blocks("one", "two", "three"), "tool_calls": []object{{"id": "c", "tool": "bash", "arguments": command("ls", "-l", "ghp_0123456789abcdefghijABCDEFGHIJ012345")}}})
	w.row(string(row))
	got, _ := w.call("read_session", object{"session": "s"})
	require.Equal(t, "one\ntwo\nthree", got.Rows[len(got.Rows)-2].Text)
	require.Equal(t, `bash {"command":["ls","-l","[redacted:github-token]"],"n":12345678901234567,"path":"/w/a.go"}`, got.Rows[len(got.Rows)-1].Text)
}

// TestSplitSecrets splits secrets at random over neighbours in all forms of a list.
func TestSplitSecrets(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t, nil), testenv.Rand(t)
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[r.IntN(62)]
		}
		return string(b)
	}
	w.say(w.st.Store, "s", nil, "a prompt")
	for i := range testenv.Share(40, 200, 2000) {
		secret, step := []string{"ghp_" + random(36), "sk-ant-api03-" + random(80), "-----BEGIN PRIVATE KEY-----\n" + random(64) + "\n" + random(64) + "\n" + random(64) + "\n-----END PRIVATE KEY-----"}[i%3], 1
		var pieces, all []string
		if i%3 == 2 {
			pieces, step = strings.Split(secret, "\n"), 2
			pieces = append([]string{strings.Join(pieces[:step], "\n")}, pieces[step:]...)
		} else {
			from := 1 + r.IntN(len(secret)-2)
			to := from + 1 + r.IntN(len(secret)-from-1)
			pieces = [][]string{{secret[:from], secret[from:]}, {secret[:from], secret[from:to], secret[to:]}}[r.IntN(2)]
		}
		all = append(append(append(all, []string{"plain words"}[:r.IntN(2)]...), pieces...), []string{"more words"}[:r.IntN(2)]...)
		var blocks []object
		for _, text := range all {
			blocks = append(blocks, object{"type": "text", "text": text})
		}
		row := quoted([]object{
			{"role": "user", "content": blocks},
			{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": "c", "content": blocks}}},
			{"role": "assistant", "content": "", "tool_calls": []object{{"id": "c", "tool": "bash", "arguments": object{"command": all}}}},
			{"role": "assistant", "content": "", "tool_calls": []object{{"id": "c", "tool": "bash", "arguments": string(quoted(object{"args": all}))}}},
		}[r.IntN(4)])
		w.row(string(row))
		_, text := w.call("read_session", object{"session": "s"})
		for _, piece := range strings.Split(strings.Join(pieces, "\n"), "\n") {
			if len(piece) >= 12 && !strings.HasPrefix(piece, "-----") {
				require.NotContains(t, text, piece, "%s", row)
			}
		}
	}
}

// TestLongRow: a message that is too long is named instead of told.
func TestLongRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.say(w.st.Store, "s", nil, "before", "an answer", "long "+strings.Repeat("pebbles and sand ", longestRow/16), "after")
	got, _ := w.call("read_session", object{"session": "s", "turn": 2})
	require.Len(t, got.Rows, 3)
	require.Equal(t, row{Turn: 2, Who: "user", Text: "Message 3 is left out: it has 8 MB."}, got.Rows[1])
	require.Equal(t, "after", got.Rows[2].Text)
	got, _ = w.call("search_sessions", object{"words": "pebbles"})
	require.Empty(t, got.Rows)
	got, _ = w.call("search_sessions", object{"words": "after"})
	require.Len(t, got.Rows, 1)
}

// TestPythonRow: a row with a number that is not JSON, but that Python writes, is told as every other one.
func TestPythonRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.say(w.st.Store, "s", nil, "a prompt")
	for content, told := range map[string]string{
		`"pebbles"`: "pebbles",
		`[{"type": "text", "text": "NaN \"Infinity ghp_0123456789abcdefghij"}, {"type": "text", "text": "ABCDEFGHIJ012345"}]`: `NaN "Infinity [redacted:github-token]`,
	} {
		w.row(`{"role": "user", "content": ` + content + `, "score": NaN, "least": -Infinity}`)
		got, _ := w.call("read_session", object{"session": "s"})
		require.Len(t, got.Rows, 2)
		require.Equal(t, told, got.Rows[1].Text)
		got, _ = w.call("search_sessions", object{"words": "pebbles"})
		require.Equal(t, told == "pebbles", len(got.Rows) == 1)
	}
}

// TestBesideSecrets: what stands beside a secret, and is none of it, is told as it is stored.
func TestBesideSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.say(w.st.Store, "s", nil, "a prompt")
	const token, head, tail = "ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123456789abcdefghij", "ABCDEFGHIJ012345"
	for _, c := range []struct{ content, told any }{
		{[]string{"use", token, "Then", "serve", "/w/a"}, nil},
		{`["curl","-u","ada:hunter2secret9X"] is what I ran`, `["curl -u ada:[redacted:password]"] is what I ran`},
		{"[\"a\"]\n[\"" + head + `","` + tail + `"]` + "\n{", "[\"a\"]\n[\"[redacted:github-token]\"]\n{"},
		{`{"a":"x < y & z","n":1.50,"c":["` + head + `","` + tail + `","serve"]}` + "\n", `{"a":"x < y & z","c":["[redacted:github-token]","serve"],"n":1.50}` + "\n"},
		{`[ "a" ,` + "\t" + `"b", NaN ]`, nil},
	} {
		if all, ok := c.content.([]string); ok {
			c.content = []object{{"type": "text", "text": "x"}, {"type": "tool_use", "id": "c", "name": "run", "input": all}}
			c.told = "run " + strings.Replace(string(quoted(all)), token, "[redacted:github-token]", 1)
		} else if c.told == nil {
			c.told = c.content
		}
		w.row(string(quoted(object{"role": "assistant", "content": c.content})))
		got, _ := w.call("read_session", object{"session": "s"})
		require.Equal(t, c.told, got.Rows[len(got.Rows)-1].Text)
	}
}

// TestLongNames: an answer goes on, however long the names in it are and small the answer.
func TestLongNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *Server) { s.All = true })
	st, err := w.p.Store("-" + strings.Repeat("<", 230))
	require.NoError(t, err)
	id := strings.Repeat("ü", 110)
	w.say(st, id, map[string]string{"name": "a name"}, "needle", "more of it")
	for tool, args := range map[string]object{"list_sessions": {}, "search_sessions": {"words": "needle"}, "read_session": {"session": id, "turn": 1}} {
		args["max_bytes"] = 1
		rows := 0
		for from := "-"; from != ""; {
			a, _ := w.call(tool, args)
			require.NotEqual(t, args["from"], a.Next, tool)
			from, rows = a.Next, rows+len(a.Rows)
			args["from"] = from
		}
		require.NotZero(t, rows, tool)
	}
}

// TestProjectsUntold: a project of which nothing may be told is as one that never was.
func TestProjectsUntold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *Server) { s.All = true })
	w.say(w.st.Store, "s", nil, "needle")
	require.NoError(t, w.st.Hide(t.Context(), "s"))
	for _, c := range []struct {
		tool string
		args object
	}{{"list_sessions", object{}}, {"list_sessions", object{"after": "x"}}, {"search_sessions", object{"words": "needle"}}, {"search_sessions", object{"words": " "}}, {"sessions_of_file", object{"path": "a"}}} {
		c.args["project"] = project
		_, is := w.call(c.tool, c.args)
		c.args["project"] = "nobody"
		_, none := w.call(c.tool, c.args)
		require.Equal(t, none, is, "%v", c)
	}
}

// TestNamesOfFiles: a file is found however its name is written in the call.
func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "the paths are those of Unix")
	w := newWorld(t, nil)
	w.say(w.st.Store, "s", nil, "a prompt")
	for name, path := range map[string]string{
		`/w/caf\u00e9.go`: "/w/café.go", "/w/cafe\u0301.go": "/w/café.go", `/w/a \"b\".go`: `/w/a "b".go`, `\/w\/c.go`: "/w/c.go", `/w/d\\e.go`: `/w/d\e.go`, "/w/sub/": "/w/sub",
		`/w/(x)+[y]*.go`: `/w/(x)+[y]*.go`, `/w/x/../f.go`: "/w/f.go", `/w/<&>.go`: "/w/<&>.go", `/w/.env`: "/w/.env", "/w/-": "/w/-", `/w/\ud83d\ude42`: "/w/🙂",
	} {
		for _, arguments := range []string{`{"path": "` + name + `"}`, string(quoted(`{"path": "` + name + `"}`))} {
			row := `{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "tool": "read", "arguments": ` + arguments + `}]}`
			w.row(row)
			got, _ := w.call("sessions_of_file", object{"path": path})
			require.Len(t, got.Rows, 1, row)
			got, _ = w.call("search_sessions", object{"words": filepath.Base(path), "who": "tool"})
			require.Len(t, got.Rows, 1, row)
		}
	}
}
