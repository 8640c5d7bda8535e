package foreign

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/hybridtest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

const importedHistory = `{"timestamp":"2026-03-04T10:00:00.000Z","type":"session_meta","payload":{"id":"a","cwd":"/w"}}
{"timestamp":"2026-03-04T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}}
{"timestamp":"2026-03-04T10:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}}
`

const importedMore = `{"timestamp":"2026-03-04T10:00:03.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"More"}]}}
{"timestamp":"2026-03-04T10:00:04.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Here"}]}}
`

// importing is a device that syncs, and imports a history.
type importing struct {
	*hybrid.Store
	t   *testing.T
	top string
}

// newImporting opens a device with a remote, in a directory of its own.
func newImporting(t *testing.T, r *hybridtest.Remote, name string, redact hybrid.Redactor) *importing {
	t.Helper()
	return importingAt(t, r, t.TempDir(), name, redact)
}

func importingAt(t *testing.T, r *hybridtest.Remote, top, name string, redact hybrid.Redactor) *importing {
	t.Helper()
	s, err := hybrid.Open(t.Context(), filepath.Join(top, "-w", "sessions"), &hybrid.Options{
		Store:  &sessionstore.Options{Durability: sessionstore.Relaxed},
		Remote: r, Project: "demo", User: "ada", Device: name, Manual: true,
		Redact: redact,
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := s.Close(); !errors.Is(err, hybrid.ErrDeferred) {
			require.NoError(t, err)
		}
	})
	return &importing{s, t, top}
}

// bring imports the history, and returns the id of its session.
func (d *importing) bring(history string) string {
	d.t.Helper()
	p, err := projects.Open(d.top, &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(d.t, err)
	defer func() { require.NoError(d.t, p.Close()) }()
	path := filepath.Join(d.t.TempDir(), "rollout-a.jsonl")
	require.NoError(d.t, os.WriteFile(path, []byte(history), 0o600))
	report, err := Import(d.t.Context(), p, History{Tool: Codex, ID: "a", Path: path}, &Options{Project: "-w"})
	require.NoError(d.t, err)
	require.Len(d.t, report.Sessions, 1)
	return report.Sessions[0].ID
}

func (d *importing) sync() hybrid.SyncResult {
	d.t.Helper()
	got, err := d.Sync(d.t.Context())
	require.NoError(d.t, err)
	return got
}

func (d *importing) pull() {
	d.t.Helper()
	_, err := d.Pull(d.t.Context())
	require.NoError(d.t, err)
}

// ids returns the sessions that are here.
func (d *importing) ids() (ids []string) {
	d.t.Helper()
	all, err := d.List(d.t.Context(), nil)
	require.NoError(d.t, err)
	for _, i := range all {
		ids = append(ids, i.ID)
	}
	return ids
}

func (d *importing) file(id, name string) string {
	d.t.Helper()
	return original(d.t, filepath.Join(d.Dir(), id, filepath.FromSlash(name)))
}

// TestImported syncs a history that two devices imported: there is one session and
// no conflict, and a third device has all that belongs to it, also when it grew.
func TestImported(t *testing.T) {
	t.Parallel()
	r := hybridtest.New()
	a := newImporting(t, r, "a", nil)
	b := newImporting(t, r, "b", nil)
	third := newImporting(t, r, "c", nil)
	id := a.bring(importedHistory)
	require.Equal(t, id, b.bring(importedHistory))
	for range 2 {
		for _, d := range []*importing{a, b, third} {
			d.sync()
			d.pull()
			if d != third {
				require.Equal(t, []string{id}, d.ids())
			}
		}
	}
	same := func(n int) {
		t.Helper()
		for _, d := range []*importing{a, b, third} {
			require.Equal(t, []string{id}, d.ids())
			require.Len(t, texts(t, d.Store.Store, id), n)
			for _, name := range []string{"import/original.jsonl.zst", "import/map.jsonl"} {
				require.Equal(t, a.file(id, name), d.file(id, name), name)
			}
		}
		require.Equal(t, n, strings.Count(a.file(id, "import/map.jsonl"), `"message"`))
	}
	same(2)
	require.Equal(t, id, b.bring(importedHistory+importedMore))
	require.Equal(t, id, a.bring(importedHistory+importedMore))
	for range 2 {
		for _, d := range []*importing{b, a, third} {
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
	r := hybridtest.New()
	a := newImporting(t, r, "a", hybrid.Secrets())
	b := newImporting(t, r, "b", nil)
	id := a.bring(importedHistory)
	for range 2 {
		for _, d := range []*importing{a, b} {
			d.sync()
			d.pull()
		}
	}
	require.Equal(t, []string{"Hello", "Hi"}, texts(t, b.Store.Store, id))
	require.FileExists(t, filepath.Join(a.Dir(), id, "import", "original.jsonl.zst"))
	require.NoDirExists(t, filepath.Join(b.Dir(), id, "import"))
}

// TestImportedBeforeRules takes back what was sent before there were rules.
func TestImportedBeforeRules(t *testing.T) {
	t.Parallel()
	r := hybridtest.New()
	top := t.TempDir()
	a := importingAt(t, r, top, "a", nil)
	id := a.bring(importedHistory)
	a.sync()
	early := newImporting(t, r, "early", nil)
	early.pull()
	require.FileExists(t, filepath.Join(early.Dir(), id, "import", "original.jsonl.zst"))
	require.NoError(t, a.Close())

	a = importingAt(t, r, top, "a", hybrid.Secrets())
	require.NoError(t, a.Recreate(t.Context(), id))
	a.sync()
	late := newImporting(t, r, "late", nil)
	late.pull()
	require.Equal(t, []string{"Hello", "Hi"}, texts(t, late.Store.Store, id))
	require.NoDirExists(t, filepath.Join(late.Dir(), id, "import"))
	require.FileExists(t, filepath.Join(a.Dir(), id, "import", "original.jsonl.zst"))
}

// TestImportedOlderAndNewer has two devices that import an older and a newer state of
// one history before they sync, in both orders. Both end with the newer one, and the
// next import adds nothing.
func TestImportedOlderAndNewer(t *testing.T) {
	t.Parallel()
	for _, newerFirst := range []bool{false, true} {
		r := hybridtest.New()
		a := newImporting(t, r, "a", nil)
		b := newImporting(t, r, "b", nil)
		id := a.bring(importedHistory)
		require.Equal(t, id, b.bring(importedHistory+importedMore))
		old := time.Now().Add(-time.Hour)
		devices := []*importing{a, b}
		if newerFirst {
			devices = []*importing{b, a}
		}
		for range 3 {
			for _, d := range devices {
				require.Empty(t, d.sync().Conflicts)
				require.NoError(t, os.Chtimes(filepath.Join(d.Dir(), id, "transcript.jsonl"), old, old))
				d.pull()
			}
		}
		for _, d := range devices {
			require.Equal(t, []string{id}, d.ids(), newerFirst)
			require.Len(t, texts(t, d.Store.Store, id), 4, newerFirst)
			require.Equal(t, 4, strings.Count(d.file(id, "import/map.jsonl"), `"message"`), newerFirst)
			require.Equal(t, b.file(id, "import/original.jsonl.zst"), d.file(id, "import/original.jsonl.zst"), newerFirst)
		}
		before := a.file(id, "transcript.jsonl")
		require.Equal(t, id, a.bring(importedHistory+importedMore))
		require.Equal(t, before, a.file(id, "transcript.jsonl"))
	}
}

// TestImportedTime pulls an imported session: lists show the time of its last line, as where
// it was imported, until it goes on here.
func TestImportedTime(t *testing.T) {
	t.Parallel()
	r := hybridtest.New()
	a := newImporting(t, r, "a", nil)
	b := newImporting(t, r, "b", nil)
	id := ""
	for _, tt := range []struct{ history, want string }{{importedHistory, "10:00:02"}, {importedHistory + importedMore, "10:00:04"}} {
		id = a.bring(tt.history)
		a.sync()
		b.pull()
		for _, d := range []*importing{a, b} {
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
