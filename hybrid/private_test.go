package hybrid

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
)

// TestPrivateFitsNamesWithSlashes: a glob keeps a session whatever characters its name has.
func TestPrivateFitsNamesWithSlashes(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", func(o *Options) { o.Private = []string{"*draft*", "tax ????/??"} })
	for i, name := range []string{"draft", "draft of docs/letter.md", "review src/main.go, draft", "/draft/", "tax 2026/11"} {
		id := fmt.Sprint("s", i)
		a.say(id, "text of "+id)
		a.setMember(id, "name", name)
	}
	a.say("open", "one")
	a.setMember("open", "name", "src/main.go")
	require.Equal(t, 1, a.sync().Pushed)
	for i := range 5 {
		require.Equal(t, Local, a.state(fmt.Sprint("s", i)).State)
	}
	c.requireNoTrace(t, "draft", "text of", "tax")
}

// TestRescuedIsNotSent: the files of which a rescue made sessions of another tool stay here, also
// beside sessions that are sent.
func TestRescuedIsNotSent(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("open", "one")
	dir := filepath.Join(a.Dir(), ".sessionstore", "rescued")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for _, name := range []string{"claude-01a2137d.jsonl", "claude-01a2137d.jsonl.damaged"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("text of another tool\n"), 0o600))
	}
	require.Equal(t, 1, a.sync().Pushed)
	a.say("open", "two")
	require.Equal(t, 1, a.sync().Pushed)
	require.FileExists(t, filepath.Join(dir, "claude-01a2137d.jsonl"))
	c.requireNoTrace(t, "another tool", "01a2137d", "rescued")
}

// TestMalformedPrivate: a malformed glob is an error of Open, and nothing is sent while one
// is remembered, whichever program has put it there.
func TestMalformedPrivate(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	options := &Options{Remote: cosmos.New(c.container), Project: "demo", User: "ada", Device: "a", Manual: true}
	for _, glob := range []string{"[draft*", `x\`, "*[", "a/[]"} {
		options.Private = []string{"fine", glob}
		_, err := Open(t.Context(), dir, options)
		require.ErrorIs(t, err, path.ErrBadPattern)
		require.ErrorContains(t, err, fmt.Sprintf("%q", glob))
		options.Remote = nil
		_, err = Open(t.Context(), dir, options)
		require.ErrorIs(t, err, path.ErrBadPattern, "also without a container")
		options.Remote = cosmos.New(c.container)
	}
	running := c.deviceAt(t, dir, "a", func(o *Options) { o.Private = []string{"secret"} })
	running.say("s", "text of s")
	file := filepath.Join(dir, ".sessionstore", "sync", replica.PrivateFile)
	require.NoError(t, os.WriteFile(file, []byte(`{"v":1,"globs":["[draft*"]}`), 0o600))
	later := c.deviceAt(t, dir, "a")
	for _, d := range []*testDevice{running, later} {
		require.Zero(t, d.sync().Pushed)
		require.Equal(t, Local, d.state("s").State)
	}
	require.Empty(t, c.documents())
	mended := c.deviceAt(t, dir, "a", func(o *Options) { o.Private = []string{"[d]raft*"} })
	require.Equal(t, 1, mended.sync().Pushed)
}
