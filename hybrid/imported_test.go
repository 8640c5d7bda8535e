package hybrid

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

const importedHistory = `{"timestamp":"2026-03-04T10:00:00.000Z","type":"session_meta","payload":{"id":"a","cwd":"/w"}}
{"timestamp":"2026-03-04T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}}
{"timestamp":"2026-03-04T10:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}}
`

const importedMore = `{"timestamp":"2026-03-04T10:00:03.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"More"}]}}
{"timestamp":"2026-03-04T10:00:04.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Here"}]}}
`

// withImport opens a device with a container in memory, into which imp brings a
// history.
func withImport(t *testing.T, c *memremote.Remote, name string, redact Redactor) (d *testDevice, imp func(history string) string) {
	t.Helper()
	return importInto(t, c, t.TempDir(), name, redact)
}

func importInto(t *testing.T, c *memremote.Remote, top, name string, redact Redactor) (d *testDevice, imp func(history string) string) {
	t.Helper()
	o := &Options{
		Store:  &sessionstore.Options{Durability: sessionstore.Relaxed},
		Remote: c, Project: "demo", User: "ada", Device: name, Manual: true,
		Redact: redact,
	}
	s, err := open(t.Context(), filepath.Join(top, "-w", "sessions"), o, nil, func(e *engine) { e.Remote = c })
	require.NoError(t, err)
	t.Cleanup(func() { requireClosed(t, s) })
	return &testDevice{s, t}, func(history string) string {
		t.Helper()
		p, err := projects.Open(top, &sessionstore.Options{Durability: sessionstore.Relaxed})
		require.NoError(t, err)
		defer func() { require.NoError(t, p.Close()) }()
		path := filepath.Join(t.TempDir(), "rollout-a.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(history), 0o600))
		report, err := foreign.Import(t.Context(), p, foreign.History{Tool: foreign.Codex, ID: "a", Path: path}, &foreign.Options{Project: "-w"})
		require.NoError(t, err)
		require.Len(t, report.Sessions, 1)
		return report.Sessions[0].ID
	}
}

// TestImported syncs a history that two devices imported: there is one session and
// no conflict, and a third device has all that belongs to it, also when it grew.
func TestImported(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	c := &memremote.Remote{Now: func() time.Time { return now }}
	a, importA := withImport(t, c, "a", nil)
	b, importB := withImport(t, c, "b", nil)
	third, _ := withImport(t, c, "c", nil)
	id := importA(importedHistory)
	require.Equal(t, id, importB(importedHistory))
	for range 2 {
		for _, d := range []*testDevice{a, b, third} {
			now = now.Add(time.Hour)
			d.sync()
			d.pull()
			if d != third {
				require.Equal(t, []string{id}, d.ids())
			}
		}
	}
	same := func(n int) {
		t.Helper()
		for _, d := range []*testDevice{a, b, third} {
			require.Equal(t, []string{id}, d.ids())
			require.Len(t, d.texts(id), n)
			for _, name := range []string{"import/original.jsonl.zst", "import/map.jsonl"} {
				require.Equal(t, a.file(id, name), d.file(id, name), name)
			}
		}
		require.Equal(t, n, strings.Count(a.file(id, "import/map.jsonl"), `"message"`))
	}
	same(2)
	require.Equal(t, id, importB(importedHistory+importedMore))
	require.Equal(t, id, importA(importedHistory+importedMore))
	for range 2 {
		for _, d := range []*testDevice{b, a, third} {
			now = now.Add(time.Hour)
			require.Empty(t, d.sync().Conflicts)
			d.pull()
		}
	}
	same(4)
}

// TestImportedWithRules has rules for what leaves a device. They cannot be applied to
// a file that is compressed, so that stays.
func TestImportedWithRules(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	c := &memremote.Remote{Now: func() time.Time { return now }}
	a, imp := withImport(t, c, "a", Secrets())
	b, _ := withImport(t, c, "b", nil)
	id := imp(importedHistory)
	for range 2 {
		for _, d := range []*testDevice{a, b} {
			now = now.Add(time.Hour)
			d.sync()
			d.pull()
		}
	}
	require.Equal(t, []string{"Hello", "Hi"}, b.texts(id))
	require.FileExists(t, filepath.Join(a.Dir(), id, "import", "original.jsonl.zst"))
	require.NoDirExists(t, filepath.Join(b.Dir(), id, "import"))
}

// TestImportedBeforeRules takes back what was sent before there were rules.
func TestImportedBeforeRules(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	c := &memremote.Remote{Now: func() time.Time { return now }}
	top := t.TempDir()
	a, imp := importInto(t, c, top, "a", nil)
	id := imp(importedHistory)
	a.sync()
	early, _ := withImport(t, c, "early", nil)
	early.pull()
	require.FileExists(t, filepath.Join(early.Dir(), id, "import", "original.jsonl.zst"))
	require.NoError(t, a.Close())

	now = now.Add(time.Hour)
	a, _ = importInto(t, c, top, "a", Secrets())
	require.NoError(t, a.Recreate(t.Context(), id))
	now = now.Add(time.Hour)
	a.sync()
	late, _ := withImport(t, c, "late", nil)
	late.pull()
	require.Equal(t, []string{"Hello", "Hi"}, late.texts(id))
	require.NoDirExists(t, filepath.Join(late.Dir(), id, "import"))
	require.FileExists(t, filepath.Join(a.Dir(), id, "import", "original.jsonl.zst"))
}

// TestImportedOlderAndNewer has two devices that import an older and a newer state of
// one history before they sync, in both orders. Both end with the newer one, and the
// next import adds nothing.
func TestImportedOlderAndNewer(t *testing.T) {
	t.Parallel()
	for _, newerFirst := range []bool{false, true} {
		now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
		c := &memremote.Remote{Now: func() time.Time { return now }}
		a, importA := withImport(t, c, "a", nil)
		b, importB := withImport(t, c, "b", nil)
		id := importA(importedHistory)
		require.Equal(t, id, importB(importedHistory+importedMore))
		devices := []*testDevice{a, b}
		if newerFirst {
			devices = []*testDevice{b, a}
		}
		for range 3 {
			for _, d := range devices {
				now = now.Add(time.Hour)
				require.Empty(t, d.sync().Conflicts)
				age(t, d.Dir())
				d.pull()
			}
		}
		for _, d := range devices {
			require.Equal(t, []string{id}, d.ids(), newerFirst)
			require.Len(t, d.texts(id), 4, newerFirst)
			require.Equal(t, 4, strings.Count(d.file(id, "import/map.jsonl"), `"message"`), newerFirst)
			require.Equal(t, b.file(id, "import/original.jsonl.zst"), d.file(id, "import/original.jsonl.zst"), newerFirst)
		}
		before := a.file(id, "transcript.jsonl")
		require.Equal(t, id, importA(importedHistory+importedMore))
		require.Equal(t, before, a.file(id, "transcript.jsonl"))
	}
}

// TestImportedTime pulls an imported session: lists show the time of its last line, as where
// it was imported, until it goes on here.
func TestImportedTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	c := &memremote.Remote{Now: func() time.Time { return now }}
	a, imp := withImport(t, c, "a", nil)
	b, _ := withImport(t, c, "b", nil)
	id := ""
	for _, tt := range []struct{ history, want string }{{importedHistory, "10:00:02"}, {importedHistory + importedMore, "10:00:04"}} {
		id = imp(tt.history)
		now = now.Add(time.Hour)
		a.sync()
		b.pull()
		for _, d := range []*testDevice{a, b} {
			s, err := d.Summary(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, "2026-03-04T"+tt.want+"Z", s.Changed.UTC().Format(time.RFC3339))
		}
	}
	m, err := sessionstore.Text("user", "Go on", time.Now())
	require.NoError(t, err)
	require.NoError(t, b.Append(t.Context(), id, m))
	s, err := b.Summary(t.Context(), id)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), s.Changed, time.Hour)
}
