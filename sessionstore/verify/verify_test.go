package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, nil)
}

const (
	sound  = "{\"role\": \"user\", \"content\": \"secretword\"}\n"
	bom    = "\ufeff"
	events = "{\"ts\": \"2026-01-02T03:04:05.000+00:00\", \"event\": \"session:start\"}\n"
)

// sessions are sessions of files, and the findings in each.
var sessions = []struct {
	id    string
	files map[string]string
	want  []string // kind file:line
}{
	{
		"backup",
		map[string]string{"metadata.json": "{}", "transcript.jsonl": sound, "transcript.jsonl.backup": sound + "secretword", "metadata.json.backup": ""},
		[]string{"backup transcript.jsonl.backup:2", "backup metadata.json.backup:0"},
	},
	{
		"both",
		map[string]string{"metadata.json": "{}", "transcript.jsonl": sound + "{\"secretword", "transcript.jsonl.backup": "secretword"},
		[]string{"damaged transcript.jsonl:2", "damaged transcript.jsonl.backup:1"},
	},
	{"empty", map[string]string{"notes.txt": ""}, []string{"foreign :0"}},
	{
		"events",
		map[string]string{"metadata.json": "{}", "events.jsonl": events + "secretword\n", "context-intelligence/events.jsonl": "{"},
		[]string{"log events.jsonl:0", "log context-intelligence/events.jsonl:0"},
	},
	{"good", map[string]string{
		"metadata.json": "{}", "metadata.json.backup": "{}", "transcript.jsonl": sound + "\n" + sound, "transcript.jsonl.backup": sound,
		"events.jsonl": events, "state.json": "{\"a\": NaN}", "phase_outputs.jsonl": "{}\n\n{}",
	}, nil},
	{"metadata", map[string]string{"metadata.json": "{secretword", "metadata.json.backup": "{}", "transcript.jsonl": sound}, []string{"recovered metadata.json:0"}},
	{
		"pending",
		map[string]string{"metadata.json": "{}", "transcript.jsonl": sound + sound, "transcript.jsonl.backup": sound, "transcript.jsonl.append-pending": ""},
		[]string{"pending transcript.jsonl:0"},
	},
	{"recovered", map[string]string{"metadata.json": "{}", "transcript.jsonl": "{torn", "transcript.jsonl.backup": sound}, []string{"recovered transcript.jsonl:1"}},
	{"state", map[string]string{
		"metadata.json": "{}", "state.json": "[\"secretword\"]", "pending_approvals.json": "", "session-state.json": "\xff", "checkpoint.json": "{\"secretword\"",
		"phase_outputs.jsonl": "{}\n{}\n5", "session_conversation.jsonl": "{} {}\n", "state_history.jsonl": "secretword\nsecretword\n",
	}, []string{
		"state phase_outputs.jsonl:3", "state session_conversation.jsonl:1", "state state_history.jsonl:1",
		"state state.json:0", "state pending_approvals.json:0", "state session-state.json:0", "state checkpoint.json:0",
	}},
	{"bom", map[string]string{"metadata.json": "{}", "transcript.jsonl": bom + sound}, []string{"damaged transcript.jsonl:1"}},
	{"bom-backed", map[string]string{"metadata.json": "{}", "transcript.jsonl": bom + sound, "transcript.jsonl.backup": sound}, []string{"recovered transcript.jsonl:1"}},
	{"bom-metadata", map[string]string{"metadata.json": bom + "{}", "transcript.jsonl": sound}, []string{"damaged metadata.json:0"}},
	{"bom-others", map[string]string{
		"metadata.json": "{}", "metadata.json.backup": bom + "{}", "transcript.jsonl": sound, "transcript.jsonl.backup": bom + sound,
		"state_history.jsonl": bom + "{}\n", "state.json": bom + "{}",
	}, []string{"backup transcript.jsonl.backup:1", "backup metadata.json.backup:0", "state state_history.jsonl:1", "state state.json:0"}},
	{"nul", map[string]string{"metadata.json": "{}", "transcript.jsonl": sound + "\x00\x00\x00"}, []string{"damaged transcript.jsonl:2"}},
	{"nul-metadata", map[string]string{"metadata.json": "\x00\x00", "transcript.jsonl": sound}, []string{"damaged metadata.json:0"}},
	{"surrogates", map[string]string{"metadata.json": "{}", "transcript.jsonl": "{\"role\": \"user\", \"content\": \"\xed\xa0\x80\"}\n"}, []string{"damaged transcript.jsonl:1"}},
	{"utf16", map[string]string{"metadata.json": "{}", "transcript.jsonl": "\xff\xfe{\x00}\x00\n\x00"}, []string{"damaged transcript.jsonl:1"}},
	{"utf16-metadata", map[string]string{"metadata.json": "\xff\xfe{\x00}\x00", "transcript.jsonl": sound}, []string{"damaged metadata.json:0"}},
	{"strict", map[string]string{"metadata.json": "{}", "transcript.jsonl": "{\"content\": \"secretword\"}\n"}, []string{"strict transcript.jsonl:1"}},
}

// store makes a store of all sessions.
func store(t *testing.T) *sessionstore.Store {
	t.Helper()
	st, err := sessionstore.Open(filepath.Join(t.TempDir(), "p", "sessions"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	for _, s := range sessions {
		for name, text := range s.files {
			path := filepath.Join(st.Dir(), s.id, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
	}
	return st
}

// tree returns all there is in a directory, with times.
func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		fi, err := e.Info()
		all = append(all, fmt.Sprint(path, fi.Mode(), fi.Size(), fi.ModTime().UnixNano()))
		return err
	}))
	return all
}

func TestFindings(t *testing.T) {
	t.Parallel()
	st := store(t)
	before := tree(t, st.Dir())
	got := map[string][]string{}
	for f, err := range CheckAll(t.Context(), st, nil) {
		require.NoError(t, err)
		require.NotContains(t, f.String(), "secretword")
		require.Contains(t, f.String(), f.Session)
		got[f.Session] = append(got[f.Session], fmt.Sprintf("%s %s:%d", f.Kind, f.File, f.Line))
	}
	for _, s := range sessions {
		require.Equal(t, s.want, got[s.id], s.id)
		var one []string
		for f, err := range Check(t.Context(), st, s.id, &Options{NoEvents: true}) {
			require.NoError(t, err)
			one = append(one, fmt.Sprintf("%s %s:%d", f.Kind, f.File, f.Line))
		}
		if s.id == "events" {
			s.want = nil
		}
		require.Equal(t, s.want, one, s.id)
	}
	require.Equal(t, before, tree(t, st.Dir()), "nothing is written")
	for range Check(t.Context(), st, "none", nil) {
		t.Fatal("a session that is not there has findings")
	}
}

// What Load refuses or recovers has a finding, and what it reads has none that says so.
func TestFindingsAgreeWithLoad(t *testing.T) {
	t.Parallel()
	st := store(t)
	for _, s := range sessions {
		loaded, err := st.Load(t.Context(), s.id)
		sound := err == nil && loaded.Recovered == nil
		for f, err := range Check(t.Context(), st, s.id, nil) {
			require.NoError(t, err)
			sound = sound || f.Kind == Damaged || f.Kind == Recovered || f.Kind == Pending
		}
		require.True(t, sound, s.id)
	}
}

func TestSkippedLines(t *testing.T) {
	t.Parallel()
	for f, err := range Check(t.Context(), store(t), "events", nil) {
		require.NoError(t, err)
		skipped := (*LogError)(nil)
		require.ErrorAs(t, f.Err, &skipped)
		require.Equal(t, 1, skipped.Skipped)
		if f.File == "events.jsonl" {
			require.Equal(t, 2, skipped.Lines)
		}
	}
}

// TestStops ends a check by its caller and by its context.
func TestStops(t *testing.T) {
	t.Parallel()
	st := store(t)
	n := 0
	for range CheckAll(t.Context(), st, nil) {
		if n++; n == 2 {
			break
		}
	}
	require.Equal(t, 2, n)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	n = 0
	for _, err := range CheckAll(ctx, st, nil) {
		n++
		last = err
		cancel()
	}
	require.Equal(t, 2, n, "the error comes last")
	require.ErrorIs(t, last, context.Canceled)
	for _, err := range Check(ctx, st, "good", nil) {
		last = errors.Join(last, err)
	}
	require.ErrorIs(t, last, context.Canceled)
}

func TestForeign(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.SkipNow() // symlinks need rights there
	}
	st := store(t)
	require.NoError(t, os.Symlink(filepath.Join(st.Dir(), "good"), filepath.Join(st.Dir(), "link")))
	require.NoError(t, os.Mkdir(filepath.Join(st.Dir(), "good", "checkpoint.json"), 0o700))
	var found []Finding
	for f, err := range Check(t.Context(), st, "link", nil) {
		require.NoError(t, err)
		found = append(found, f)
	}
	require.Len(t, found, 2)
	require.ErrorIs(t, found[0].Err, ErrSymlink)
	require.Equal(t, State, found[1].Kind)
	require.Equal(t, "checkpoint.json", found[1].File)
}
