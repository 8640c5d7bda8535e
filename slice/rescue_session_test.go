package slice_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

const (
	backupFile = transcriptFile + ".backup"
	call       = `{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}` + "\n"
	q1, a1     = `{"role": "user", "content": "q1"}` + "\n", `{"role": "assistant", "content": "a1"}` + "\n"
	q2         = `{"role": "user", "content": "q2"}` + "\n"
	half       = `{"role": "us`
)

// TestRescueSession mends transcripts of each kind of damage in one change, which one undo takes
// back whole and one redo makes again. A dry run tells the same and writes nothing. Nothing is
// lost: the damaged files are kept, byte for byte.
func TestRescueSession(t *testing.T) {
	t.Parallel()
	picture := `{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "bm8gcGljdHVyZQ=="}}]}` + "\n"
	for _, tt := range []struct {
		name, transcript, backup string
		kinds                    []string
		begins                   string // of the mended transcript
		messages                 int    // of it
		aside                    int    // damaged files
	}{
		{"sound", q1 + a1, "", nil, q1 + a1, 2, 0},
		{"torn without a backup", q1 + a1 + q2 + half, "", []string{"unreadable"}, q1 + a1 + q2, 3, 1},
		{"torn in the middle without a backup", q1 + half + "\n" + a1 + q2, "", []string{"unreadable"}, q1 + a1 + q2, 3, 1},
		{"a value that is no object", q1 + "5\n" + a1, "", []string{"unreadable"}, q1 + a1, 2, 0},
		{"both damaged", q1 + a1 + half, q1 + a1 + q2 + half, []string{"unreadable"}, q1 + a1 + q2, 3, 2},
		{"torn, with a backup that is behind", q1 + a1 + q2 + call + half, q1 + a1, []string{"unreadable", "call_without_result"}, q1 + a1 + q2 + call, 6, 1},
		{"torn, with the same in the backup", q1 + a1 + half, q1 + a1, []string{"unreadable"}, q1 + a1, 2, 1},
		{"all at once without a backup", picture + a1 + q2 + call + half, "", []string{"unreadable", "call_without_result", "refused"}, "", 6, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t, "")
			files := map[string]string{transcriptFile: tt.transcript, metadataFile: parentMeta}
			if tt.backup != "" {
				files[backupFile] = tt.backup
			}
			put(t, st, parentID, files)
			files = get(t, st, parentID)
			to := &slice.RescueOptions{For: targets(accept.Anthropic)}
			dry, err := slice.RescueSession(t.Context(), st, parentID, &slice.RescueOptions{For: to.For, DryRun: true})
			require.NoError(t, err)
			require.Equal(t, files, get(t, st, parentID), "a dry run wrote")
			var kinds []string
			for _, f := range dry.Faults {
				require.NotEmpty(t, f.Mend)
				kinds = append(kinds, f.Kind)
			}
			require.Equal(t, tt.kinds, kinds)

			report, err := slice.RescueSession(t.Context(), st, parentID, to)
			require.NoError(t, err)
			require.Equal(t, dry.Faults, report.Faults)
			require.Len(t, report.Damaged, tt.aside)
			if len(tt.kinds) == 0 {
				require.Equal(t, files, get(t, st, parentID), "a sound session changed")
				return
			}
			s, err := st.Load(t.Context(), parentID)
			require.NoError(t, err)
			require.Nil(t, s.Recovered)
			require.Len(t, s.Messages, tt.messages)
			require.Empty(t, to.For[0].Check(s.Messages))
			mended := get(t, st, parentID)
			require.True(t, strings.HasPrefix(mended[transcriptFile], tt.begins), mended[transcriptFile])
			kept := slices.Collect(maps.Values(mended))
			require.Contains(t, kept, tt.transcript, "the damaged file is lost")
			require.True(t, tt.backup == "" || slices.Contains(kept, tt.backup), "the backup is lost")
			again, err := slice.RescueSession(t.Context(), st, parentID, to)
			require.NoError(t, err)
			require.Zero(t, again)

			require.Equal(t, slice.Undone, undo(t, st, "").Status)
			require.Equal(t, tt.transcript, get(t, st, parentID)[transcriptFile])
			_, err = slice.Redo(t.Context(), st, parentID)
			require.NoError(t, err)
			require.Equal(t, mended[transcriptFile], get(t, st, parentID)[transcriptFile])
			require.Equal(t, slice.Undone, undo(t, st, "").Status)
			require.Equal(t, tt.transcript, get(t, st, parentID)[transcriptFile])
		})
	}
}

// TestRescueSessionOfAnInterruptedAppend: of an append that a newer Python tool began, the messages
// before it are the transcript, and what stood there is kept.
func TestRescueSessionOfAnInterruptedAppend(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	marker := transcriptFile + ".append-pending"
	put(t, st, parentID, map[string]string{transcriptFile: q1 + a1 + q2 + half, backupFile: q1 + a1, marker: "", metadataFile: parentMeta})
	dry, err := slice.RescueSession(t.Context(), st, parentID, &slice.RescueOptions{DryRun: true})
	require.NoError(t, err)
	require.Equal(t, []slice.Fault{{Kind: "unreadable", Mend: "salvaged"}}, dry.Faults)
	report, err := slice.RescueSession(t.Context(), st, parentID, nil)
	require.NoError(t, err)
	require.Equal(t, dry.Faults, report.Faults)
	files := get(t, st, parentID)
	require.NotContains(t, files, marker)
	require.Equal(t, q1+a1, files[transcriptFile])
	require.Equal(t, q1+a1+q2+half, files[filepath.Base(report.BackupPath)])
	require.Equal(t, slice.Undone, undo(t, st, "").Status)
	require.Equal(t, q1+a1+q2+half, get(t, st, parentID)[transcriptFile])
}

// TestRescueSessionThatCannotBe: where nothing can be read, nothing is written; another program's
// line since a rescue is not taken back unasked.
func TestRescueSessionThatCannotBe(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	put(t, st, parentID, map[string]string{transcriptFile: half, metadataFile: parentMeta})
	files := get(t, st, parentID)
	report, err := slice.RescueSession(t.Context(), st, parentID, nil)
	require.NoError(t, err)
	require.Equal(t, []slice.Fault{{Kind: "unreadable", Line: 1}}, report.Faults)
	require.Equal(t, files, get(t, st, parentID))
	_, err = slice.RescueSession(t.Context(), st, "no", nil)
	require.ErrorIs(t, err, sessionstore.ErrNotFound)

	put(t, st, parentID, map[string]string{transcriptFile: q1 + a1 + half})
	_, err = slice.RescueSession(t.Context(), st, parentID, nil)
	require.NoError(t, err)
	f, err := os.OpenFile(filepath.Join(st.Dir(), parentID, transcriptFile), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(q2)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = slice.Undo(t.Context(), st, parentID, "", nil)
	require.Error(t, err)
	require.Equal(t, q1+a1+q2, get(t, st, parentID)[transcriptFile])
	_, err = slice.Undo(t.Context(), st, parentID, "", &slice.UndoOptions{Force: true})
	require.NoError(t, err)
	require.Equal(t, q1+a1+half, get(t, st, parentID)[transcriptFile])
}
