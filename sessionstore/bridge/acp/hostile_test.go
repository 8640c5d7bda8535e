package acp

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	proto "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// files returns all files below a directory with their contents, but for the times at which
// an index was made.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.Contains(path, ".sessionstore") {
			return err
		}
		all[path] = "directory"
		if d.Type().IsRegular() {
			raw, err := os.ReadFile(path)
			all[path] = string(raw)
			return err
		}
		return nil
	}))
	return all
}

// TestHostile asks with ids and directories that are none: each answer is an error of the
// client, nothing changes, and the agent goes on.
func TestHostile(t *testing.T) {
	t.Parallel()
	dir, cwd, other := realDir(t), realDir(t), realDir(t)
	c := connect(t, dir, &tester{})
	id := c.begin(t, cwd)
	c.say(t, id, "hello")
	_, err := c.CloseSession(t.Context(), proto.CloseSessionRequest{SessionId: id})
	require.NoError(t, err)
	sessions := filepath.Join(dir, sessionstore.ProjectSlug(cwd), "sessions")
	gone := realDir(t)
	require.NoError(t, os.Remove(gone))
	bad := []string{
		"", ".", "..", "/", "../" + string(id), "./" + string(id), string(id) + "/", string(id[:8]), strings.ToUpper(string(id)) + "x", filepath.Join(sessions, string(id)), sessions,
		".trash", ".sessionstore", "a/b", `a\b`, "a\x00b", "a\nb", "CON", "nul.txt", "*", "?", "~", "$HOME", "%2e%2e", "file:///etc", "C:\\x", "\\\\server\\share", strings.Repeat("x", 300), strings.Repeat("y", 1<<16), strings.Repeat("../", 100),
		"\u202e", "\ufeff", "é", "e\u0301", "-", "--help", "0", "null", "{}", "<script>", "'; drop table", gone, cwd + "/gone", filepath.Join(cwd, "..", "nowhere"),
	}
	r := testenv.Rand(t)
	for len(bad) < 200 {
		const letters = "abc-_./\\:\x00\x7f \t\n\u2028é😀"
		all, one := []rune(letters), ""
		for range 1 + r.IntN(20) {
			one += string(all[r.IntN(len(all))])
		}
		bad = append(bad, "x"+one)
	}
	before := files(t, dir)
	check := func(what, with string, err error) {
		code, message := refused(t, err)
		require.Contains(t, []int{-32602, -32002}, code, "%s %q: %s", what, with, message)
		require.Less(t, len(message), 1500, what)
	}
	servers := []proto.McpServer{}
	for _, b := range bad {
		bid := proto.SessionId(b)
		_, err := c.LoadSession(t.Context(), proto.LoadSessionRequest{SessionId: bid, Cwd: cwd, McpServers: servers})
		check("load", b, err)
		_, err = c.ResumeSession(t.Context(), proto.ResumeSessionRequest{SessionId: bid, Cwd: cwd})
		check("resume", b, err)
		_, err = c.UnstableForkSession(t.Context(), proto.UnstableForkSessionRequest{SessionId: bid, Cwd: cwd})
		check("fork", b, err)
		_, err = c.CloseSession(t.Context(), proto.CloseSessionRequest{SessionId: bid})
		check("close", b, err)
		_, err = c.Prompt(t.Context(), proto.PromptRequest{SessionId: bid, Prompt: text("hello")})
		check("prompt", b, err)
		require.NoError(t, c.Cancel(t.Context(), proto.CancelNotification{SessionId: bid}))
		if _, err = c.UnstableDeleteSession(t.Context(), proto.UnstableDeleteSessionRequest{SessionId: bid}); err != nil {
			check("delete", b, err)
		}
		if fi, err := os.Stat(b); err == nil && fi.IsDir() && filepath.IsAbs(b) {
			continue // it is a directory
		}
		_, err = c.LoadSession(t.Context(), proto.LoadSessionRequest{SessionId: id, Cwd: b, McpServers: servers})
		check("load in", b, err)
		_, err = c.ResumeSession(t.Context(), proto.ResumeSessionRequest{SessionId: id, Cwd: b})
		check("resume in", b, err)
		_, err = c.NewSession(t.Context(), proto.NewSessionRequest{Cwd: b, McpServers: servers})
		check("new in", b, err)
		list, err := c.ListSessions(t.Context(), proto.ListSessionsRequest{Cwd: &b})
		if filepath.IsAbs(b) { // it may have had sessions
			require.NoError(t, err)
			require.Empty(t, list.Sessions, b)
		} else {
			check("list in", b, err)
		}
	}
	for _, there := range []string{other, dir, "/", filepath.Dir(cwd)} { // they have no sessions
		_, err := c.LoadSession(t.Context(), proto.LoadSessionRequest{SessionId: id, Cwd: there, McpServers: servers})
		check("load in", there, err)
		_, message := refused(t, err)
		require.Contains(t, message, "is of another cwd")
		list, err := c.ListSessions(t.Context(), proto.ListSessionsRequest{Cwd: &there})
		require.NoError(t, err)
		require.Empty(t, list.Sessions)
	}
	for _, prompt := range [][]proto.ContentBlock{{}, text(""), {proto.AudioBlock("x", "audio/wav")}} {
		_, err := c.ResumeSession(t.Context(), proto.ResumeSessionRequest{SessionId: id, Cwd: cwd})
		require.NoError(t, err)
		_, err = c.Prompt(t.Context(), proto.PromptRequest{SessionId: id, Prompt: prompt})
		check("prompt", "no text", err)
	}
	require.Equal(testenv.Lost(t), before, files(t, dir))
	require.Equal(t, []string{"user: hello", "agent: You said hello"}, c.load(t, id, cwd))
}

// TestDamaged refuses a session that cannot be read, and serves the others.
func TestDamaged(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	c := connect(t, dir, &tester{})
	bad, good := c.begin(t, cwd), c.begin(t, cwd)
	c.say(t, bad, "hello")
	c.say(t, good, "hello")
	session := filepath.Join(dir, sessionstore.ProjectSlug(cwd), "sessions", string(bad))
	for _, name := range []string{"transcript.jsonl", "transcript.jsonl.backup"} {
		require.NoError(t, os.WriteFile(filepath.Join(session, name), []byte("{\"role\": \"user\", \"content\": \"secret"), 0o600))
	}
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(session, later, later))
	two := connect(t, dir, &tester{})
	for what, err := range map[string]error{
		"load":   second(two.LoadSession(t.Context(), proto.LoadSessionRequest{SessionId: bad, Cwd: cwd, McpServers: []proto.McpServer{}})),
		"resume": second(two.ResumeSession(t.Context(), proto.ResumeSessionRequest{SessionId: bad, Cwd: cwd})),
	} {
		_, message := refused(t, err)
		require.Contains(t, message, "damaged", what)
		require.Contains(t, message, "sessions repair", what)
		require.NotContains(t, message, "secret", what)
	}
	require.Empty(t, two.take())
	require.Len(t, two.load(t, good, cwd), 2)
	list, err := two.ListSessions(t.Context(), proto.ListSessionsRequest{})
	require.NoError(t, err)
	require.NotEmpty(t, list.Sessions)
	require.NoError(t, os.RemoveAll(cwd))
	_, err = two.LoadSession(t.Context(), proto.LoadSessionRequest{SessionId: good, Cwd: cwd, McpServers: []proto.McpServer{}})
	_, message := refused(t, err)
	require.Contains(t, message, "is not a directory that exists")
	list, err = two.ListSessions(t.Context(), proto.ListSessionsRequest{Cwd: &cwd})
	require.NoError(t, err)
	require.NotEmpty(t, list.Sessions, "of a directory that is gone")
	require.Equal(t, cwd, list.Sessions[0].Cwd)
	link := filepath.Join(realDir(t), "link")
	if os.Symlink(filepath.Dir(cwd), link) == nil {
		link = filepath.Join(link, filepath.Base(cwd))
		list, err = two.ListSessions(t.Context(), proto.ListSessionsRequest{Cwd: &link})
		require.NoError(t, err)
		require.NotEmpty(t, list.Sessions, "by another name")
	}
	_, err = two.UnstableDeleteSession(t.Context(), proto.UnstableDeleteSessionRequest{SessionId: good})
	require.NoError(t, err)
}

func second[T any](_ T, err error) error { return errors.Join(err) }

// TestSubSession keeps the turns of a sub-session apart, which has no owner.
func TestSubSession(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	st := stored(t, dir, cwd)
	id := proto.SessionId(sessionstore.NewSubID("parent", "agent", ""))
	md, err := sessionstore.NewMetadata(map[string]any{"working_dir": cwd})
	require.NoError(t, err)
	require.NoError(t, st.Create(t.Context(), string(id), md))
	one, _ := spawn(t, dir, "one")
	require.Empty(t, one.load(t, id, cwd))
	go func() { _, _ = one.Prompt(t.Context(), proto.PromptRequest{SessionId: id, Prompt: text("slow")}) }()
	one.wait(t, "agent: answer")
	two := connect(t, dir, &tester{})
	two.load(t, id, cwd)
	_, err = two.Prompt(t.Context(), proto.PromptRequest{SessionId: id, Prompt: text("hello")})
	_, message := refused(t, err)
	require.Contains(t, message, "another turn of the session runs")
}
