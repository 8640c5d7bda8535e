package slice_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// rewound makes the session of brokenRows, rewound, without the backup of the save.
func rewound(t *testing.T, st *sessionstore.Store) {
	t.Helper()
	broken(t, st)
	_, err := slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(st.Dir(), parentID, transcriptFile+".backup")))
}

// TestDropOfTheLastContent keeps the copies that are all that is left of a session.
func TestDropOfTheLastContent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file, content string
		fails               bool
	}{
		{name: "missing"},
		{name: "empty", file: transcriptFile},
		{name: "blank", file: transcriptFile, content: "\n"},
		{name: "damaged", file: transcriptFile, content: "\x00\x00\x00\x00\n", fails: true},
		{name: "torn", file: transcriptFile, content: said("user", "eins", 1) + "{", fails: true},
		{name: "torn metadata", file: metadataFile, content: "{", fails: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t, "")
			rewound(t, st)
			if tt.file != metadataFile {
				require.NoError(t, os.Remove(filepath.Join(st.Dir(), parentID, transcriptFile)))
			}
			if tt.file != "" {
				put(t, st, parentID, map[string]string{tt.file: tt.content})
			}
			before := get(t, st, parentID)
			dropped, err := slice.DropBackups(t.Context(), st, parentID)
			require.Equal(t, tt.fails, err != nil, "%v", err)
			require.Empty(testenv.Lost(t), dropped)
			require.Equal(testenv.Lost(t), before, get(t, st, parentID))
			if tt.fails {
				require.ErrorIs(t, err, sessionstore.ErrCorrupt)
				require.ErrorContains(t, err, "repaired or salvaged")
			}
		})
	}
	st := openStore(t, "")
	rewound(t, st)
	put(t, st, parentID, map[string]string{transcriptFile: firstTwo + "{", transcriptFile + ".backup": firstTwo})
	before := get(t, st, parentID)
	_, err := slice.DropBackups(t.Context(), st, parentID)
	require.ErrorIs(t, err, sessionstore.ErrCorrupt, "the backup was read")
	require.Equal(testenv.Lost(t), before, get(t, st, parentID))
}

// TestDropThatFails removes the log of a copy and not the copy: it reports that, and makes it
// durable.
func TestDropThatFails(t *testing.T) {
	t.Parallel()
	plain := openStore(t, "")
	rewound(t, plain)
	synced, failed := false, false
	st := openFaulty(t, plain.Dir(), sessionstore.Durable, &seam.Seam{Before: func(op seam.Op) error {
		if op.Kind == seam.Remove && strings.HasSuffix(op.Name, rewindBackup) {
			failed = true
			return fs.ErrPermission
		}
		synced = synced || failed && op.Kind == seam.SyncDir
		return nil
	}})
	dropped, err := slice.DropBackups(t.Context(), st, parentID)
	require.NoError(t, st.Close())
	require.ErrorIs(t, err, fs.ErrPermission)
	require.True(t, synced)
	require.Len(t, dropped, 1)
	require.Equal(t, []any{rewindBackup, int64(0), int64(len(allEvents))}, []any{dropped[0].Name, dropped[0].Size, dropped[0].Log})
	require.NotContains(t, keys(get(t, plain, parentID)), rewindEvents)
	require.Contains(testenv.Lost(t), keys(get(t, plain, parentID)), rewindBackup)
}

// TestUndoOfAMissingTranscript brings the copy back with Force, and says so without it.
func TestUndoOfAMissingTranscript(t *testing.T) {
	t.Parallel()
	for _, backup := range []string{"", rewindBackup} {
		st := openStore(t, "")
		rewound(t, st)
		require.NoError(t, os.Remove(filepath.Join(st.Dir(), parentID, transcriptFile)))
		_, err := slice.Undo(t.Context(), st, parentID, backup, nil)
		require.ErrorIs(t, err, sessionstore.ErrCorrupt)
		require.ErrorContains(t, err, "Force")
		r, err := slice.Undo(t.Context(), st, parentID, backup, &slice.UndoOptions{Force: true})
		require.NoError(testenv.Lost(t), err)
		require.Equal(t, slice.Undone, r.Status)
		require.Equal(t, 6, r.Messages)
		require.Empty(t, r.BackupPath)
		files := get(t, st, parentID)
		require.Equal(testenv.Lost(t), brokenRows, files[transcriptFile])
		require.Equal(testenv.Lost(t), allEvents, files[eventsFile])
		require.Equal(t, twoEvents, files[undoEvents])
	}
}

// TestUndoOfAMissingTranscriptWithABackup keeps the backup, which is what the session had.
func TestUndoOfAMissingTranscriptWithABackup(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	rewound(t, st)
	dir := filepath.Join(st.Dir(), parentID)
	more := firstTwo + said("user", "vier", 20)
	require.NoError(t, os.Remove(filepath.Join(dir, transcriptFile)))
	put(t, st, parentID, map[string]string{transcriptFile + ".backup": more})
	r, err := slice.Undo(t.Context(), st, parentID, "", &slice.UndoOptions{Force: true})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, undoBackup), r.BackupPath)
	require.Equal(testenv.Lost(t), brokenRows, get(t, st, parentID)[transcriptFile])
	require.Equal(testenv.Lost(t), more, get(t, st, parentID)[undoBackup])
}

// TestUndoOfHalfAnAppend has no transcript that can be read, nor a backup: Force fails or
// brings the copy back.
func TestUndoOfHalfAnAppend(t *testing.T) {
	t.Parallel()
	for _, name := range []string{transcriptFile + ".append-pending", "." + transcriptFile + ".icloud"} {
		st := openStore(t, "")
		rewound(t, st)
		if strings.HasSuffix(name, "icloud") {
			require.NoError(t, os.Remove(filepath.Join(st.Dir(), parentID, transcriptFile)))
		}
		put(t, st, parentID, map[string]string{name: ""})
		before := get(t, st, parentID)
		if _, err := slice.Undo(t.Context(), st, parentID, "", &slice.UndoOptions{Force: true}); err != nil {
			require.Equal(testenv.Lost(t), before, get(t, st, parentID))
		} else {
			require.Equal(testenv.Lost(t), brokenRows, get(t, st, parentID)[transcriptFile])
		}
	}
}

// TestKilledUndoLog kills undo and redo of a rewind before and after each change of a name: the
// log has what the transcript has, and the next calls have every event once.
func TestKilledUndoLog(t *testing.T) {
	t.Parallel()
	since := strings.ReplaceAll(logged(60), "tool:pre", "session:resume")
	step := func(ctx context.Context, st *sessionstore.Store, again bool) error {
		if again {
			_, err := slice.Redo(ctx, st, parentID)
			return err
		}
		_, err := slice.Undo(ctx, st, parentID, "", nil)
		return err
	}
	for _, since := range []string{"", since} {
		for _, steps := range []int{1, 2, 3} { // the last of them is killed
			for at := 0; ; at++ {
				plain := openStore(t, "")
				rewound(t, plain)
				put(t, plain, parentID, map[string]string{eventsFile: twoEvents + since})
				for n := range steps - 1 {
					require.NoError(t, step(t.Context(), plain, n%2 == 1))
				}
				killed, left := errors.New("killed"), at
				st := openFaulty(t, plain.Dir(), sessionstore.Durable, &seam.Seam{Before: func(op seam.Op) error {
					if op.Kind != seam.Rename && op.Kind != seam.Exchange && op.Kind != seam.Remove && left >= 0 {
						return nil
					}
					if left--; left < 0 {
						return killed
					}
					return nil
				}})
				err := step(t.Context(), st, steps == 2)
				require.NoError(t, st.Close())
				files := get(t, plain, parentID)
				if files[transcriptFile] == brokenRows {
					require.Equal(testenv.Lost(t), allEvents+since, files[eventsFile], "%d of %d steps", at, steps)
				}
				for {
					if _, err := slice.Undo(t.Context(), plain, parentID, "", nil); err != nil {
						require.ErrorIs(t, err, fs.ErrNotExist)
						break
					}
				}
				files = get(t, plain, parentID)
				require.Equal(testenv.Lost(t), brokenRows, files[transcriptFile])
				require.Equal(testenv.Lost(t), allEvents+since, files[eventsFile], "%d of %d steps", at, steps)
				if err == nil {
					break
				}
				require.ErrorIs(t, err, killed)
			}
		}
	}
}

// TestUndoOfAKilledUndoLog begins where an older program was killed: the transcript is back, and
// the log is still cut. Redo and undo bring back every event once.
func TestUndoOfAKilledUndoLog(t *testing.T) {
	t.Parallel()
	for _, since := range []string{"", strings.ReplaceAll(logged(60), "tool:pre", "session:resume")} {
		st := openStore(t, "")
		broken(t, st)
		_, err := slice.RewindSession(t.Context(), st, parentID)
		require.NoError(t, err)
		undo(t, st, "")
		put(t, st, parentID, map[string]string{eventsFile: twoEvents + since})
		_, err = slice.Undo(t.Context(), st, parentID, "", nil)
		require.ErrorIs(t, err, fs.ErrNotExist)
		for range 2 {
			_, err = slice.Redo(t.Context(), st, parentID)
			require.NoError(t, err)
			undo(t, st, "")
			require.Equal(testenv.Lost(t), allEvents+since, get(t, st, parentID)[eventsFile])
		}
	}
}

// TestUndoThatFailsBeforeTheTranscript brings the log back as it was.
func TestUndoThatFailsBeforeTheTranscript(t *testing.T) {
	t.Parallel()
	plain := openStore(t, "")
	rewound(t, plain)
	before := get(t, plain, parentID)
	st := openFaulty(t, plain.Dir(), sessionstore.Durable, &seam.Seam{Before: func(op seam.Op) error {
		if (op.Kind == seam.Exchange || op.Kind == seam.Rename) && strings.Contains(op.Name+op.To, transcriptFile) && !strings.Contains(op.To, ".bak-") {
			return fs.ErrPermission
		}
		return nil
	}})
	_, err := slice.Undo(t.Context(), st, parentID, "", nil)
	require.NoError(t, st.Close())
	require.ErrorIs(t, err, fs.ErrPermission)
	require.Equal(testenv.Lost(t), before, without(get(t, plain, parentID)))
}

// TestRenameWithoutMetadata renames where SetName does.
func TestRenameWithoutMetadata(t *testing.T) {
	t.Parallel()
	for kept, files := range map[string]map[string]string{
		"": {transcriptFile: firstTwo},
		metadataFile + ".bak-pre-rename-20261118120000": {transcriptFile: firstTwo, metadataFile + ".backup": parentMeta},
	} {
		st, other := openStore(t, ""), openStore(t, "")
		put(t, st, parentID, files)
		put(t, other, parentID, files)
		r, err := slice.RenameSession(t.Context(), st, parentID, "x")
		require.NoError(t, err)
		require.Equal(t, slice.Renamed, r.Status)
		require.Equal(t, kept != "", r.BackupPath != "")
		_, _, err = other.SetName(t.Context(), parentID, sessionstore.Naming{Name: "x", Source: "manual"})
		require.NoError(t, err)
		got := get(t, st, parentID)
		require.Equal(t, files[metadataFile+".backup"], got[kept])
		delete(got, kept)
		require.Equal(t, get(t, other, parentID), got)
		r, err = slice.RenameSession(t.Context(), st, parentID, "x")
		require.NoError(t, err)
		require.Equal(t, slice.RenameReport{Status: slice.NoRenameNeeded}, r)
		if _, err = slice.Undo(t.Context(), st, parentID, "", nil); kept == "" {
			require.ErrorIs(t, err, fs.ErrNotExist)
			continue
		}
		require.NoError(t, err)
		md, err := st.Metadata(t.Context(), parentID)
		require.NoError(t, err)
		require.Empty(t, md.Text("name"))
	}
}

// TestUndoOfARenameBesideTornMetadata has a copy of metadata that cannot be read: no name comes
// back from it, and it is passed over.
func TestUndoOfARenameBesideTornMetadata(t *testing.T) {
	t.Parallel()
	torn := metadataFile + ".bak-pre-repair-20990101000000"
	for _, name := range []string{torn, metadataFile + ".bak-pre-rename-20200101000000"} {
		for _, named := range []bool{false, true} {
			st := openStore(t, "")
			broken(t, st)
			for _, n := range []string{"one", "two"} {
				_, err := slice.RenameSession(t.Context(), st, parentID, n)
				require.NoError(t, err)
			}
			put(t, st, parentID, map[string]string{name: "{"})
			undo, _, err := slice.Steps(t.Context(), st, parentID)
			require.NoError(t, err)
			require.Len(t, undo, 2)
			backup := ""
			if named {
				backup = undo[0].Name
			}
			r, err := slice.Undo(t.Context(), st, parentID, backup, nil)
			require.NoError(t, err)
			require.Equal(t, "one", *r.Name)
			_, err = slice.Undo(t.Context(), st, parentID, name, &slice.UndoOptions{Force: true})
			require.ErrorIs(t, err, sessionstore.ErrCorrupt)
		}
	}
}

// TestUndoOfAPullAfterAWriteInPlace keeps what was written: it is in a copy.
func TestUndoOfAPullAfterAWriteInPlace(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	pulled := firstTwo + said("user", "new", 7)
	put(t, st, parentID, map[string]string{
		transcriptFile: pulled, transcriptFile + ".backup": brokenRows, metadataFile: parentMeta,
		transcriptFile + ".bak-pre-pull-20261118120000": brokenRows,
	})
	require.Equal(t, slice.Undone, undo(t, st, "").Status)
	require.Equal(t, brokenRows, get(t, st, parentID)[transcriptFile])
	require.Equal(testenv.Lost(t), pulled, get(t, st, parentID)[transcriptFile+".bak-pre-undo-step-20261118120000-2"])
}
