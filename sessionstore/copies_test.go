package sessionstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/verify"
	"github.com/amplifier-go/sessionstorage/slice"
)

// conflictNames are names that programs that copy folders give another device's version.
var conflictNames = []string{
	"transcript.sync-conflict-20260909-101112-ABCDEFG.jsonl",
	"transcript (ana's conflicted copy 2026-09-09).jsonl",
	"transcript (conflicted copy 2026-09-09 101112).jsonl",
	"transcript 2.jsonl",
	"transcript (1).jsonl",
	"transcript-LAPTOP.jsonl",
}

// TestMissingTranscript reads and writes a session whose transcript is gone, while the
// metadata counts turns.
func TestMissingTranscript(t *testing.T) {
	t.Parallel()
	for _, beside := range append([]string{"", "icloud", "empty"}, conflictNames...) {
		t.Run(beside, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, `{"session_id": "s", "turn_count": 1}`, dir, "s", metadataFile)
			switch beside {
			case "":
			case "icloud":
				write(t, "x", dir, "s", "."+transcriptFile+".icloud")
			case "empty":
				write(t, "", dir, "s", conflictNames[0])
			default:
				write(t, user("other")+"\n", dir, "s", beside)
			}
			before := tree(t, dir)
			st := open(t, dir, nil)
			s, err := st.Load(t.Context(), "s")
			require.ErrorIs(t, err, sessionstore.ErrCorrupt)
			require.ErrorContains(t, err, transcriptFile)
			require.Empty(t, s.Messages)
			for range 2 {
				sum, err := st.Summary(t.Context(), "s")
				require.NoError(t, err)
				require.True(t, sum.Damaged)
			}
			require.NotEmpty(t, findings(t, st))
			for _, write := range []func() error{
				func() error { return st.Append(t.Context(), "s", parse(t, user("new"))...) },
				func() error {
					return st.Save(t.Context(), "s", parse(t, user("new")), metadata(t, `{"turn_count": 1}`))
				},
			} {
				if beside == "" || beside == "empty" {
					require.NoError(t, write())
					s, err := st.Load(t.Context(), "s")
					require.NoError(t, err)
					require.Equal(t, []string{user("new")}, lines(s.Messages))
					return
				}
				err := write()
				require.ErrorIs(t, err, sessionstore.ErrCorrupt)
				require.ErrorContains(t, err, transcriptFile)
				require.Subset(t, tree(t, dir), before)
				require.NoFileExists(t, filepath.Join(dir, "s", transcriptFile))
			}
		})
	}
	dir := t.TempDir()
	write(t, `{"session_id": "s", "turn_count": 0}`, dir, "s", metadataFile)
	_, err := open(t, dir, nil).Load(t.Context(), "s")
	require.NoError(t, err, "nothing was in it")
}

// findings returns what verify finds, as texts.
func findings(t *testing.T, st *sessionstore.Store) (all []string) {
	t.Helper()
	for f, err := range verify.CheckAll(t.Context(), st, nil) {
		require.NoError(t, err)
		all = append(all, fmt.Sprintf("%s %s", f.Kind, f.File))
	}
	return all
}

// TestConflictCopies has other devices' versions beside a sound transcript: lists and
// reads say nothing of them. verify names those with messages of their own, and
// Salvage offers them.
func TestConflictCopies(t *testing.T) {
	t.Parallel()
	for _, name := range conflictNames {
		dir := t.TempDir()
		st := open(t, dir, nil)
		require.NoError(t, st.Append(t.Context(), "s", parse(t, user("one"))...))
		write(t, user("one")+"\n", dir, "s", name)
		require.Empty(t, findings(t, st), "it holds nothing else: %s", name)
		write(t, user("one")+"\n"+user("other")+"\n", dir, "s", name)
		require.Equal(t, []string{"foreign " + name}, findings(t, st))
		sum, err := st.Summary(t.Context(), "s")
		require.NoError(t, err)
		require.False(t, sum.Damaged)
		report, err := st.Salvage(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, sessionstore.SalvageReport{Forks: []sessionstore.SalvageFork{{File: name, Rows: 2, Lacking: 1}}}, report)
		forked, err := slice.Fork(t.Context(), st, "s", &slice.ForkOptions{Damaged: name})
		require.NoError(t, err)
		s, err := st.Load(t.Context(), forked.ID)
		require.NoError(t, err)
		require.Equal(t, []string{user("one"), user("other")}, lines(s.Messages))
	}
	for _, name := range []string{"transcript.jsonl.bak-pre-rewind-20260101000000", "transcripts.jsonl", "transcript.json", "transcript.md"} {
		dir := t.TempDir()
		st := open(t, dir, nil)
		require.NoError(t, st.Append(t.Context(), "s", parse(t, user("one"))...))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "s", name), []byte(user("other")+"\n"), 0o600))
		require.Empty(t, findings(t, st), name)
	}
}
