package slice_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
	"github.com/amplifier-go/sessionstorage/slice/accept/scale"
)

func undo(t *testing.T, st *sessionstore.Store, backup string) slice.UndoReport {
	t.Helper()
	r, err := slice.Undo(t.Context(), st, parentID, backup, nil)
	require.NoError(t, err)
	return r
}

func TestUndoOfARepair(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	_, err := slice.RepairSession(t.Context(), st, parentID)
	require.NoError(t, err)
	r := undo(t, st, repairBackup)
	require.Equal(t, slice.UndoReport{Status: slice.Undone, Messages: 6, BackupPath: filepath.Join(st.Dir(), parentID, undoBackup)}, r)
	require.Equal(t, map[string]string{
		transcriptFile: brokenRows, metadataFile: parentMeta, eventsFile: allEvents, repairBackup: brokenRows, undoBackup: repairedRows,
	}, without(get(t, st, parentID)))

	before := get(t, st, parentID)
	r = undo(t, st, repairBackup)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.Equal(t, `{"status":"no-undo-needed"}`, string(text))
	require.Equal(t, before, get(t, st, parentID))

	undo(t, st, filepath.Join(st.Dir(), parentID, undoBackup))
	require.Equal(t, repairedRows, get(t, st, parentID)[transcriptFile], "what was undone")
	require.Equal(t, brokenRows, get(t, st, parentID)[transcriptFile+".bak-pre-redo-20261118120000-3"])
}

// TestUndoOfARepairOfPictures undoes what repairs for each of the providers, and for all of them,
// made of rows with pictures.
func TestUndoOfARepairOfPictures(t *testing.T) {
	t.Parallel()
	image := func(kind, data string) string {
		return `{"type": "image", "source": {"type": "base64", "media_type": "` + kind + `", "data": "` + data + `"}}`
	}
	const gif = "R0lGODlhAQABAAAAACwAAAAAAQABAAACAQAAOw=="
	rows := `{"role": "user", "content": [` + image("image/gif", gif) + `, ` + image("image/png", "") + `, ` + image("image/tiff", gif) + `]}` + "\n" + say + "\n" +
		`{"role": "user", "content": [` + strings.Repeat(image("image/gif", gif)+", ", 1600) + image("image/gif", gif) + `]}` + "\n" + say + "\n" + ask + "\n" + say + "\n"
	all := []accept.Provider{accept.Anthropic, accept.OpenAIChat, accept.OpenAIResponses, accept.Gemini}
	for _, providers := range [][]accept.Provider{all[:1], all[1:2], all[2:3], all[3:], all} {
		st := openStore(t, "")
		put(t, st, parentID, map[string]string{transcriptFile: rows, metadataFile: parentMeta})
		r, err := slice.RepairSession(t.Context(), st, parentID, targets(providers...)...)
		require.NoError(t, err)
		require.Equal(t, slice.Repaired, r.Status)
		require.NotEqual(t, rows, get(t, st, parentID)[transcriptFile])
		require.Equal(t, slice.Undone, undo(t, st, "").Status)
		require.Equal(t, rows, get(t, st, parentID)[transcriptFile], "%v", providers)
	}
}

// shown returns a prompt with a picture that is too wide.
func shown(t *testing.T) string {
	t.Helper()
	var wide bytes.Buffer
	require.NoError(t, png.Encode(&wide, image.NewGray(image.Rect(0, 0, 9000, 1))))
	return `{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + base64.StdEncoding.EncodeToString(wide.Bytes()) + `"}}]}`
}

// TestUndoOfScaledPictures undoes a repair that made a picture smaller, without the target that
// it was for. What another program wrote since in place is not taken back, also where it kept the
// size.
func TestUndoOfScaledPictures(t *testing.T) {
	t.Parallel()
	bad := `{"role": "assistant", "content": "", "tool_calls": [{"id": "a.b", "tool": "f", "arguments": {}}]}` + "\n" + `{"role": "tool", "tool_call_id": "a.b", "content": "r"}`
	rows := shown(t) + "\n" + bad + "\n" + say + "\n"
	to := targets(accept.OpenAIChat, accept.Anthropic)
	for i := range to {
		to[i].Scale = scale.Picture
	}
	for _, went := range []bool{false, true} {
		st := openStore(t, "")
		put(t, st, parentID, map[string]string{transcriptFile: rows, metadataFile: parentMeta})
		r, err := slice.RepairSession(t.Context(), st, parentID, to...)
		require.NoError(t, err)
		require.Equal(t, slice.Repaired, r.Status)
		mended := get(t, st, parentID)[transcriptFile]
		require.Contains(t, mended, `"type": "image"`)
		if went {
			put(t, st, parentID, map[string]string{transcriptFile: strings.Replace(mended, `"r"`, `"s"`, 1)})
			_, err = slice.Undo(t.Context(), st, parentID, "", nil)
			require.ErrorIs(t, err, slice.ErrWentOn)
			continue
		}
		require.Equal(t, slice.Undone, undo(t, st, "").Status)
		require.Equal(t, rows, get(t, st, parentID)[transcriptFile])
		_, err = slice.Redo(t.Context(), st, parentID)
		require.NoError(t, err)
		require.Equal(t, mended, get(t, st, parentID)[transcriptFile])
		require.Equal(t, slice.Undone, undo(t, st, "").Status)
		require.Equal(t, rows, get(t, st, parentID)[transcriptFile])
	}
}

// TestUndoWhereTimesAreLost gives all files one time, as programs do that copy a session in a
// moment: what was written since a repair is seen. The transcript that a rescue made is known by
// its content, also where another program set its time.
func TestUndoWhereTimesAreLost(t *testing.T) {
	t.Parallel()
	set := func(st *sessionstore.Store, names ...string) {
		for _, name := range names {
			at := noon().Add(123_456_789)
			require.NoError(t, os.Chtimes(filepath.Join(st.Dir(), parentID, name), at, at))
		}
	}
	st := openStore(t, "")
	broken(t, st)
	_, err := slice.RepairSession(t.Context(), st, parentID)
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), parentID, parse(t, strings.TrimSpace(q2))...))
	set(st, transcriptFile, repairBackup)
	_, err = slice.Undo(t.Context(), st, parentID, "", nil)
	require.ErrorIs(t, err, slice.ErrWentOn)

	st = openStore(t, "")
	put(t, st, parentID, map[string]string{transcriptFile: q1 + a1 + half})
	_, err = slice.RescueSession(t.Context(), st, parentID, nil)
	require.NoError(t, err)
	set(st, transcriptFile)
	require.Equal(t, slice.Undone, undo(t, st, "").Status)
	require.Equal(t, q1+a1+half, get(t, st, parentID)[transcriptFile])
}

// TestUndoOfTheLastChange names no backup: the last change is undone, and made again.
func TestUndoOfTheLastChange(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	_, err := slice.RepairSession(t.Context(), st, parentID)
	require.NoError(t, err)
	for range 3 {
		require.Equal(t, slice.Undone, undo(t, st, "").Status)
		require.Equal(t, brokenRows, get(t, st, parentID)[transcriptFile])
		_, err = slice.Undo(t.Context(), st, parentID, "", nil)
		require.ErrorIs(t, err, fs.ErrNotExist)
		r, err := slice.Redo(t.Context(), st, parentID)
		require.NoError(t, err)
		require.Equal(t, slice.Redone, r.Status)
		require.Equal(t, repairedRows, get(t, st, parentID)[transcriptFile])
		_, err = slice.Redo(t.Context(), st, parentID)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	put(t, st, parentID, map[string]string{transcriptFile: brokenRows + firstTwo})
	_, err = slice.Undo(t.Context(), st, parentID, "", nil)
	require.ErrorIs(t, err, slice.ErrWentOn)
}

// TestUndoWhenTheClockWasSetBack rewinds, and rewinds again on a clock that was set back:
// the last change is the one that is undone.
func TestUndoWhenTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	now := noon()
	st, err := sessionstore.Open(t.TempDir(), &sessionstore.Options{Now: func() time.Time { return now }, Workspace: "/w"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	turn := func(n int) string { return said("user", "q", n) + said("assistant", "a", n+1) }
	put(t, st, parentID, map[string]string{transcriptFile: turn(1) + turn(3) + turn(5)})
	for _, keep := range []int{2, 1} {
		_, err := slice.RewindSessionTo(t.Context(), st, parentID, keep, slice.Complete)
		require.NoError(t, err)
		now = now.Add(-time.Hour)
	}
	for i, want := range []string{turn(1) + turn(3), turn(1) + turn(3) + turn(5), turn(1) + turn(3), turn(1)} {
		if i < 2 {
			require.Equal(t, slice.Undone, undo(t, st, "").Status)
		} else {
			_, err := slice.Redo(t.Context(), st, parentID)
			require.NoError(t, err)
		}
		require.Equal(t, want, get(t, st, parentID)[transcriptFile])
		now = now.Add(-time.Hour)
	}
}

func TestUndoOfARewind(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	_, err := slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	since := strings.ReplaceAll(logged(60), "tool:pre", "session:resume")
	put(t, st, parentID, map[string]string{eventsFile: twoEvents + since})
	undo(t, st, rewindBackup)
	files := get(t, st, parentID)
	require.Equal(t, brokenRows, files[transcriptFile])
	require.Equal(t, allEvents+since, files[eventsFile])
	require.Equal(t, firstTwo, files[undoBackup])
	require.Equal(t, twoEvents+since, files[undoEvents])

	undo(t, st, undoBackup)
	files = get(t, st, parentID)
	require.Equal(t, firstTwo, files[transcriptFile])
	require.Equal(t, twoEvents+since, files[eventsFile])
}

func TestUndoKeepsEveryByte(t *testing.T) {
	t.Parallel()
	odd := "\n" + strings.ReplaceAll(firstTwo, "\n", " \r\n") + "  " + said("user", "drei", 5) + strings.TrimSpace(called("t1", 6))
	st := openStore(t, "")
	put(t, st, parentID, map[string]string{transcriptFile: odd, eventsFile: strings.TrimSpace(allEvents)})
	_, err := slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	undo(t, st, rewindBackup)
	require.Equal(t, odd, get(t, st, parentID)[transcriptFile])
	require.Equal(t, strings.TrimSpace(allEvents), get(t, st, parentID)[eventsFile])
	s, err := st.Load(t.Context(), parentID)
	require.NoError(t, err)
	require.Len(t, s.Messages, 6)
}

func TestUndoOfARewindToATurn(t *testing.T) {
	t.Parallel()
	for _, o := range []slice.Orphans{slice.Complete, slice.Remove} {
		st := openStore(t, "")
		rows := said("user", "q", 1) + called("t1", 2) + said("assistant", "a", 3) + said("user", "r", 4)
		put(t, st, parentID, map[string]string{transcriptFile: rows, eventsFile: allEvents})
		_, err := slice.RewindSessionTo(t.Context(), st, parentID, 1, o)
		require.NoError(t, err)
		require.NotEqual(t, rows, get(t, st, parentID)[transcriptFile])
		undo(t, st, rewindBackup)
		require.Equal(t, rows, get(t, st, parentID)[transcriptFile])
		require.Equal(t, allEvents, get(t, st, parentID)[eventsFile])
	}
}

func TestUndoOfWhatPythonDid(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	compact := strings.ReplaceAll(brokenRows, `", "`, `","`)
	put(t, st, parentID, map[string]string{transcriptFile: repairedRows, repairBackup: compact})
	undo(t, st, repairBackup)
	require.Equal(t, compact, get(t, st, parentID)[transcriptFile])
}

func TestUndoOfASessionThatWentOn(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	_, err := slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	more := said("user", "vier", 20)
	require.NoError(t, st.Append(t.Context(), parentID, parse(t, strings.TrimSpace(more))...))
	before := get(t, st, parentID)
	_, err = slice.Undo(t.Context(), st, parentID, rewindBackup, nil)
	require.ErrorIs(t, err, slice.ErrWentOn)
	require.Equal(t, before, get(t, st, parentID))
	_, err = slice.Undo(t.Context(), st, parentID, rewindBackup, &slice.UndoOptions{Force: true})
	require.NoError(t, err)
	files := get(t, st, parentID)
	require.Equal(t, brokenRows, files[transcriptFile])
	require.Equal(t, firstTwo+more, files[undoBackup])
	undo(t, st, undoBackup)
	require.Equal(t, firstTwo+more, get(t, st, parentID)[transcriptFile])
}

func TestUndoOfDamage(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	_, err := slice.RepairSession(t.Context(), st, parentID)
	require.NoError(t, err)
	put(t, st, parentID, map[string]string{transcriptFile: "{torn"})
	before := get(t, st, parentID)
	_, err = slice.Undo(t.Context(), st, parentID, repairBackup, nil)
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)
	require.Equal(t, before, get(t, st, parentID))
	_, err = slice.Undo(t.Context(), st, parentID, repairBackup, &slice.UndoOptions{Force: true})
	require.NoError(t, err)
	require.Equal(t, brokenRows, get(t, st, parentID)[transcriptFile])
	require.Equal(t, "{torn", get(t, st, parentID)[undoBackup])
}

func TestUndoWithADamagedBackup(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	put(t, st, parentID, map[string]string{transcriptFile: firstTwo, repairBackup: firstTwo + "{"})
	_, err := slice.Undo(t.Context(), st, parentID, repairBackup, nil)
	corrupt := (*sessionstore.CorruptError)(nil)
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, 5, corrupt.Line)
	_, err = slice.Undo(t.Context(), st, parentID, repairBackup, &slice.UndoOptions{Force: true})
	require.NoError(t, err)
	require.Equal(t, firstTwo+"{", get(t, st, parentID)[transcriptFile])
}

func TestUndoOfNoBackup(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	put(t, st, parentID, map[string]string{transcriptFile + ".backup": firstTwo})
	before := get(t, st, parentID)
	for _, name := range []string{
		"", repairBackup, transcriptFile, transcriptFile + ".backup", metadataFile, "../" + parentID + "/" + repairBackup, "..", "/etc/passwd",
	} {
		_, err := slice.Undo(t.Context(), st, parentID, name, nil)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}
	require.Equal(t, before, get(t, st, parentID))
	list, err := slice.Backups(t.Context(), st, parentID)
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestUndoOfARewindToNothing(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	rows := said("user", "q", 1) + called("t1", 2)
	put(t, st, parentID, map[string]string{transcriptFile: rows, metadataFile: parentMeta})
	_, err := slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	undo(t, st, rewindBackup)
	require.Equal(t, rows, get(t, st, parentID)[transcriptFile])
	undo(t, st, undoBackup)
	s, err := openStore(t, st.Dir()).Load(t.Context(), parentID)
	require.NoError(t, err)
	require.Empty(t, s.Messages)
	require.Nil(t, s.Recovered)
}
