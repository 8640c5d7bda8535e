package sessionstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// spareScene is what stands in the place of the backups before a save that
// changes nothing, and what that save makes of it.
type spareScene struct {
	name   string
	before func(t *testing.T, dir string)
	made   bool // a copy of what is there becomes the backup
	aside  bool // and what stood in its place is kept
}

// spareScenes are about the file name, of which sound would be a backup.
func spareScenes(name, sound string) []spareScene {
	backup := sessiondir.Backup(name)
	holding := func(text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, backup), []byte(text), 0o600))
		}
	}
	return []spareScene{
		{name: "missing", before: func(*testing.T, string) {}, made: true},
		{name: "empty", before: holding(""), made: true, aside: name == sessiondir.Metadata},
		{name: "torn", before: holding(sound[:len(sound)-4]), made: true, aside: true},
		{name: "not UTF-8", before: holding("\xff\xfe\n"), made: true, aside: true},
		{name: "NUL", before: holding("\x00\x00\x00"), made: true, aside: true},
		{name: "sound", before: holding(sound)},
		{name: "directory", before: func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(filepath.Join(dir, backup), 0o700))
		}, made: true, aside: true},
		{name: "the file itself", before: func(t *testing.T, dir string) {
			require.NoError(t, os.Link(filepath.Join(dir, name), filepath.Join(dir, backup)))
		}, made: true},
	}
}

// A save that changes nothing leaves a session with a sound backup of each
// file, and writes nothing where there is one.
func TestSaveUnchangedMakesBackups(t *testing.T) {
	t.Parallel()
	for name, sound := range map[string]string{
		sessiondir.Transcript: `{"role": "user", "content": "older"}` + "\n",
		sessiondir.Metadata:   `{"session_id": "s", "older": true}`,
	} {
		for _, scene := range spareScenes(name, sound) {
			t.Run(name+" "+scene.name, func(t *testing.T) {
				t.Parallel()
				checkSpare(t, name, scene)
			})
		}
	}
}

func checkSpare(t *testing.T, name string, scene spareScene) {
	t.Helper()
	dir := t.TempDir()
	st, done := counted(t, dir, Options{})
	rows := []Message{say(t, "one"), say(t, "two")}
	require.NoError(t, st.Save(t.Context(), "s", rows, Metadata{}))
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.NoError(t, st.Save(t.Context(), "s", s.Messages, s.Metadata)) // now both have a backup
	path := filepath.Join(dir, "s")
	require.NoError(t, os.Remove(filepath.Join(path, sessiondir.Backup(name))))
	scene.before(t, path)
	clear(done)
	require.NoError(t, st.Save(t.Context(), "s", s.Messages, s.Metadata))

	main, err := os.ReadFile(filepath.Join(path, name))
	require.NoError(t, err)
	asides, err := filepath.Glob(filepath.Join(path, "*.damaged-*"))
	require.NoError(t, err)
	require.Equal(t, scene.aside, len(asides) == 1, "%v", asides)
	if !scene.made {
		require.Empty(t, done)
		return
	}
	backup, err := os.ReadFile(filepath.Join(path, sessiondir.Backup(name)))
	require.NoError(t, err)
	require.Equal(t, string(main), string(backup))
	require.Equal(t, 1, done[seam.Sync], "the copy is synced")
	require.Equal(t, 1, done[seam.SyncDir], "its name is durable")
	require.Zero(t, done[seam.Link])
	a, err := os.Stat(filepath.Join(path, name))
	require.NoError(t, err)
	b, err := os.Stat(filepath.Join(path, sessiondir.Backup(name)))
	require.NoError(t, err)
	require.False(t, os.SameFile(a, b), "a tool that writes a backup in place would harm both")

	clear(done)
	require.NoError(t, st.Save(t.Context(), "s", s.Messages, s.Metadata))
	require.Empty(t, done, "there is a sound backup now")
	require.NoError(t, os.WriteFile(filepath.Join(path, name), []byte("{torn"), 0o600))
	recovered, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, recovered.Messages, len(rows))
	require.NotNil(t, recovered.Recovered)
}

// A save that changes nothing does not read the backups that the store has
// seen: it does not even notice that one cannot be opened any more.
func TestSaveUnchangedKnowsTheBackups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, done := counted(t, dir, Options{})
	require.NoError(t, st.Save(t.Context(), "s", []Message{say(t, "one")}, Metadata{}))
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	same := func() error { return st.Save(t.Context(), "s", s.Messages, s.Metadata) }
	require.NoError(t, same())
	require.Eventually(t, func() bool { // until the file system's clock has gone on
		require.NoError(t, same())
		kept := st.cache.sessions["s"].backups
		return st.base.Settled(kept.transcript.stamp, kept.transcript.checkedAt) && st.base.Settled(kept.metadata.stamp, kept.metadata.checkedAt)
	}, time.Minute, time.Millisecond)
	before := st.cache.sessions["s"].backups
	clear(done)
	for range 3 {
		require.NoError(t, same())
	}
	require.Equal(t, before, st.cache.sessions["s"].backups, "they were read again")
	require.Empty(t, done)
}

// A copy of what another writer has just replaced does not become the backup.
func TestSaveUnchangedOvertaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	armed := false
	st, err := open(dir, nil, &seam.Seam{Before: func(op seam.Op) error {
		if armed && op.Kind == seam.Create {
			armed = false
			other := filepath.Join(dir, "s", "other")
			require.NoError(t, os.WriteFile(other, []byte(`{"role": "user", "content": "theirs"}`+"\n"), 0o600))
			require.NoError(t, os.Rename(other, filepath.Join(dir, "s", sessiondir.Transcript)))
		}
		return nil
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	rows := []Message{say(t, "one")}
	require.NoError(t, st.Save(context.Background(), "s", rows, Metadata{}))
	armed = true
	require.NoError(t, st.Save(t.Context(), "s", rows, Metadata{}))
	require.False(t, armed)
	require.NoFileExists(t, filepath.Join(dir, "s", sessiondir.Backup(sessiondir.Transcript)))
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, "theirs", s.Messages[0].Content())
}

func answerOf(t *testing.T) Message {
	t.Helper()
	m, err := NewMessage(map[string]string{"role": "assistant", "content": "a"})
	require.NoError(t, err)
	return m
}

// From the second write of a session on, damage to metadata.json or to the transcript loses
// nothing that a save of the reference would have in a backup: a file has one even if
// no write has changed it since it was made.
func TestUnchangedFileHasBackup(t *testing.T) {
	t.Parallel()
	named := mustMetadata(NewMetadata(map[string]any{"name": "Important", "bundle": "bundle:foundation"}))
	answer := answerOf(t)
	save := func(t *testing.T, st *Store, md Metadata, rows ...Message) {
		t.Helper()
		require.NoError(t, st.Save(t.Context(), "s", rows, md))
	}
	lives := map[string]func(t *testing.T, st *Store){
		"appends": func(t *testing.T, st *Store) {
			require.NoError(t, st.Append(t.Context(), "s", answer))
		},
		"saves": func(t *testing.T, st *Store) { save(t, st, named, answer, answer) },
		"replace": func(t *testing.T, st *Store) {
			at, err := st.Revision(t.Context(), "s")
			require.NoError(t, err)
			_, err = st.Replace(t.Context(), "s", at, []Message{answer, answer})
			require.NoError(t, err)
		},
		"config": func(t *testing.T, st *Store) { require.NoError(t, st.SaveConfig(t.Context(), "s", named)) },
		"update that changes nothing": func(t *testing.T, st *Store) {
			_, err := st.UpdateMetadata(t.Context(), "s", func(*Metadata) error { return nil })
			require.NoError(t, err)
		},
	}
	for name, live := range lives {
		for _, d := range []Durability{Durable, Relaxed} {
			t.Run(name+" "+durabilities[d], func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				st, done := counted(t, dir, Options{Durability: d})
				save(t, st, named, answer)
				require.NoFileExists(t, filepath.Join(dir, "s", sessiondir.Backup(sessiondir.Metadata)), "the reference makes it with the second save")
				live(t, st)
				main := filepath.Join(dir, "s", sessiondir.Metadata)
				whole, err := os.ReadFile(main)
				require.NoError(t, err)
				backup, err := os.ReadFile(main + ".backup")
				require.NoError(t, err)
				require.Equal(t, string(whole), string(backup))

				clear(done)
				live(t, st)
				require.LessOrEqual(t, done[seam.Create], 1, "the backup is made once")
				require.NoError(t, os.WriteFile(main, []byte(`{"session_id": "s`), 0o600))
				s, err := st.Load(t.Context(), "s")
				require.NoError(t, err)
				require.Equal(t, "Important", s.Metadata.Text("name"))
			})
		}
	}
}

// A save of other metadata leaves the transcript with a backup, too.
func TestUnchangedTranscriptHasBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, done := counted(t, dir, Options{})
	rows := []Message{say(t, "one"), say(t, "two")}
	for n := range 2 {
		require.NoError(t, st.Save(t.Context(), "s", rows, mustMetadata(NewMetadata(map[string]int{"n": n}))))
	}
	main := filepath.Join(dir, "s", sessiondir.Transcript)
	require.FileExists(t, main+".backup")
	clear(done)
	require.NoError(t, st.Save(t.Context(), "s", rows, mustMetadata(NewMetadata(map[string]int{"n": 2}))))
	require.LessOrEqual(t, done[seam.Create], 1, "the backup is made once")
	require.NoError(t, os.WriteFile(main, []byte("{torn"), 0o600))
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, s.Messages, 2)
}

// The backup of metadata.json is made beside a write that succeeds without it: where it
// cannot be made, the write is acknowledged, and the next one makes it. A session that is
// deleted and made again begins anew.
func TestBackupOfMetadataIsTriedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	full := false
	st, err := open(dir, nil, &seam.Seam{Before: func(op seam.Op) error {
		if full && op.Kind == seam.Rename && strings.HasSuffix(op.To, "metadata.json.backup") {
			return syscall.ENOSPC
		}
		return nil
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	answer := answerOf(t)
	backup := filepath.Join(dir, "s", sessiondir.Backup(sessiondir.Metadata))
	for range 2 {
		require.NoError(t, st.Append(t.Context(), "s", answer))
		full = true
		require.NoError(t, st.Append(t.Context(), "s", answer))
		require.NoFileExists(t, backup)
		full = false
		require.NoError(t, st.Append(t.Context(), "s", answer))
		require.FileExists(t, backup)
		s, err := st.Load(t.Context(), "s")
		require.NoError(t, err)
		require.Len(t, s.Messages, 3)
		require.NoError(t, st.Delete(t.Context(), "s"))
	}
}
