package slice_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

const (
	repairBackup = transcriptFile + ".bak-pre-repair-20261118120000"
	rewindBackup = transcriptFile + ".bak-pre-rewind-20261118120000"
	rewindEvents = eventsFile + ".bak-pre-rewind-20261118120000"
	undoBackup   = transcriptFile + ".bak-pre-undo-step-20261118120000-2" // the second copy of the second
	undoEvents   = eventsFile + ".bak-pre-undo-step-20261118120000-2"
)

// without returns the files but for those of every save.
func without(files map[string]string) map[string]string {
	delete(files, transcriptFile+".backup")
	return files
}

func TestRepairSession(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	r, err := slice.RepairSession(t.Context(), st, parentID)
	require.NoError(t, err)
	path := filepath.Join(st.Dir(), parentID, repairBackup)
	require.Equal(t, map[string]string{
		transcriptFile: repairedRows, metadataFile: parentMeta, eventsFile: allEvents, repairBackup: brokenRows,
	}, without(get(t, st, parentID)))
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.JSONEq(t, `{"status": "repaired", "backup_path": "`+path+`", "counts": {"original_entries": 6, "repaired_entries": 8},
		"original_diagnosis": {"status": "broken", "failure_modes": ["missing_tool_results"], "orphaned_tool_ids": ["t1"],
			"misplaced_tool_ids": [], "incomplete_turns": [], "recommended_action": "repair"},
		"verification": {"status": "healthy", "failure_modes": [], "orphaned_tool_ids": [], "misplaced_tool_ids": [],
			"incomplete_turns": [], "recommended_action": "none"}}`, string(text))

	before := get(t, st, parentID)
	r, err = slice.RepairSession(t.Context(), st, parentID)
	require.NoError(t, err)
	text, err = json.Marshal(r)
	require.NoError(t, err)
	require.Equal(t, `{"status":"no-repair-needed"}`, string(text))
	require.Equal(t, before, get(t, st, parentID))
}

func TestRewindSession(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	r, err := slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	dir := filepath.Join(st.Dir(), parentID)
	require.Equal(t, slice.RewindReport{
		Status: slice.Rewound, Original: 6, Rewound: 4,
		BackupPath: filepath.Join(dir, rewindBackup), EventsBackup: filepath.Join(dir, rewindEvents),
	}, r)
	require.Equal(t, map[string]string{
		transcriptFile: firstTwo, metadataFile: parentMeta, eventsFile: twoEvents, rewindBackup: brokenRows, rewindEvents: allEvents,
	}, without(get(t, st, parentID)))

	before := get(t, st, parentID)
	r, err = slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.Equal(t, `{"status":"no-rewind-needed"}`, string(text))
	require.Equal(t, before, get(t, st, parentID))
}

func TestRewindSessionTo(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	before := get(t, st, parentID)
	for turn, text := range map[int]string{
		0: "Turn must be >= 1, got 0", -1: "Turn must be >= 1, got -1", 4: "Turn 4 exceeds max turns (3). Valid range: 1-3",
	} {
		_, err := slice.RewindSessionTo(t.Context(), st, parentID, turn, slice.Complete)
		require.EqualError(t, err, text)
	}
	_, err := slice.RewindSessionTo(t.Context(), st, parentID, 3, slice.Refuse)
	require.ErrorContains(t, err, "Orphaned tool calls")
	require.Equal(t, before, get(t, st, parentID))
	r, err := slice.RewindSessionTo(t.Context(), st, parentID, 1, slice.Complete)
	require.NoError(t, err)
	require.Equal(t, 2, r.Rewound)
	files := get(t, st, parentID)
	require.Equal(t, said("user", "eins <ü>", 1)+said("assistant", "a", 2), files[transcriptFile])
	require.Equal(t, logged(0)+logged(1)+logged(2), files[eventsFile])
	r, err = slice.RewindSessionTo(t.Context(), st, parentID, 1, slice.Complete)
	require.NoError(t, err)
	require.Equal(t, slice.NoRewindNeeded, r.Status)
}

// TestRewindAgreesWithFork rewinds sessions to turns and forks them there: both
// leave the same messages, or both are refused.
func TestRewindAgreesWithFork(t *testing.T) {
	t.Parallel()
	for turn := -1; turn <= 4; turn++ {
		for _, o := range []slice.Orphans{slice.Complete, slice.Remove, slice.Refuse} {
			st := openStore(t, "")
			broken(t, st)
			forked, ferr := slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{Turn: &turn, NewID: "child", Orphans: o})
			r, rerr := slice.RewindSessionTo(t.Context(), st, parentID, turn, o)
			require.Equal(t, ferr == nil, rerr == nil, "turn %d, orphans %d: %v, %v", turn, o, ferr, rerr)
			require.Equal(t, turn < 1 || turn > 3 || o == slice.Refuse && turn == 3, rerr != nil, "turn %d, orphans %d: %v", turn, o, rerr)
			if rerr == nil {
				require.Equal(t, forked.Messages, r.Rewound)
				require.Equal(t, get(t, st, "child")[transcriptFile], get(t, st, parentID)[transcriptFile])
			}
		}
	}
}

func TestRewindOfEverything(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	put(t, st, parentID, map[string]string{
		transcriptFile: said("user", "q", 1) + called("t1", 2), metadataFile: parentMeta, eventsFile: allEvents,
	})
	r, err := slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	require.Equal(t, 0, r.Rewound)
	files := get(t, st, parentID)
	require.Empty(t, files[transcriptFile])
	require.Equal(t, logged(0), files[eventsFile], "what came before the first message stays")
	s, err := openStore(t, st.Dir()).Load(t.Context(), parentID)
	require.NoError(t, err)
	require.Empty(t, s.Messages)
	require.Nil(t, s.Recovered, "it is meant to be empty")
}

func TestRewindWithoutTimesKeepsTheLog(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	put(t, st, parentID, map[string]string{transcriptFile: ask + "\n" + say + "\n" + ask + "\n" + calling("t") + "\n", eventsFile: allEvents})
	r, err := slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	require.Empty(t, r.EventsBackup)
	files := get(t, st, parentID)
	require.Equal(t, allEvents, files[eventsFile])
	require.NotContains(t, files, rewindEvents)
	require.Equal(t, ask+"\n"+say+"\n", files[transcriptFile])
}

func TestBackupsOfOneSecond(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	for range 3 {
		_, err := slice.RepairSession(t.Context(), st, parentID)
		require.NoError(t, err)
		put(t, st, parentID, map[string]string{transcriptFile: brokenRows})
	}
	_, err := slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	list, err := slice.Backups(t.Context(), st, parentID)
	require.NoError(t, err)
	names := []string{}
	for _, b := range list {
		require.Equal(t, noon(), b.Time)
		require.Equal(t, int64(len(brokenRows)), b.Size)
		names = append(names, b.Name)
	}
	require.Equal(t, []string{rewindBackup + "-4", repairBackup + "-3", repairBackup + "-2", repairBackup}, names, "newest first")
	require.Equal(t, rewindEvents+"-4", list[0].Events)
	require.Equal(t, "pre-rewind", list[0].Label)
}

// TestBackupsAreNewestFirst makes copies with all labels in one second. The
// newest is always the first, and to undo it twice leaves what was there.
func TestBackupsAreNewestFirst(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	made := []string{}
	newest := func(path string) {
		t.Helper()
		made = append([]string{filepath.Base(path)}, made...)
		list, err := slice.Backups(t.Context(), st, parentID)
		require.NoError(t, err)
		names := []string{}
		for _, b := range list {
			names = append(names, b.Name)
		}
		require.Equal(t, made, names)
	}
	fixed, err := slice.RepairSession(t.Context(), st, parentID)
	require.NoError(t, err)
	newest(fixed.BackupPath)
	for turn := 2; turn > 0; turn-- {
		r, err := slice.RewindSessionTo(t.Context(), st, parentID, turn, slice.Complete)
		require.NoError(t, err)
		newest(r.BackupPath)
	}
	rewound := get(t, st, parentID)[transcriptFile]
	for range 2 {
		newest(undo(t, st, made[0]).BackupPath)
	}
	require.Equal(t, rewound, get(t, st, parentID)[transcriptFile])
	torn := rewound + said("user", "beyond", 30)
	put(t, st, parentID, map[string]string{
		transcriptFile: torn + "{", transcriptFile + ".backup": rewound,
	})
	salvaged, err := st.Salvage(t.Context(), parentID)
	require.NoError(t, err)
	newest(salvaged.Kept)
	newest(undo(t, st, made[0]).BackupPath)
}

// TestBackupsOfOlderTools gives two copies of one second the same number, as tools
// that count for each label do: the later file is the first.
func TestBackupsOfOlderTools(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "files do not tell when they got their name")
	for _, order := range [][]string{{repairBackup, rewindBackup}, {rewindBackup, repairBackup}} {
		st := openStore(t, "")
		broken(t, st)
		put(t, st, parentID, map[string]string{order[0]: brokenRows})
		made := func(name string) time.Time {
			fi, err := os.Stat(filepath.Join(st.Dir(), parentID, name))
			require.NoError(t, err)
			return fi.ModTime()
		}
		for done := false; !done; done = made(order[1]).After(made(order[0])) {
			put(t, st, parentID, map[string]string{order[1]: brokenRows})
		}
		list, err := slice.Backups(t.Context(), st, parentID)
		require.NoError(t, err)
		require.Equal(t, []string{order[1], order[0]}, []string{list[0].Name, list[1].Name})
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	st := openStore(t, filepath.Join(t.TempDir(), "project", "sessions"))
	broken(t, st)
	info, err := slice.Inspect(t.Context(), st, parentID)
	require.NoError(t, err)
	require.Equal(t, slice.Info{
		SessionID: parentID, Path: filepath.Join(st.Dir(), parentID), Project: "project", Bundle: "bundle:b",
		Turns: 3, Status: "broken", Modes: []string{"missing_tool_results"},
	}, info)
	put(t, st, "bare", map[string]string{transcriptFile: firstTwo})
	_, err = slice.Inspect(t.Context(), st, "bare")
	require.ErrorContains(t, err, metadataFile)
	put(t, st, "torn", map[string]string{transcriptFile: firstTwo + "{", transcriptFile + ".backup": firstTwo, metadataFile: "{}"})
	_, err = slice.Inspect(t.Context(), st, "torn")
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)
}

func TestLeftoversOfKilledChangesAreSwept(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	kept := []string{".events.jsonl", ".mine123", ".events.jsonl.txt1"}
	for _, name := range append([]string{
		".events.jsonl123", ".transcript.jsonl456", "." + repairBackup + "789", "." + rewindEvents + "-2789",
	}, kept...) {
		put(t, st, parentID, map[string]string{name: "x"})
	}
	_, err := slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	require.ElementsMatch(t, kept, leftovers(get(t, st, parentID)))
}

// TestRepairSessionFor mends a session that the reference calls healthy and no provider
// takes, and takes that back.
func TestRepairSessionFor(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	rows := ask + "\n" + callOf(`"c1"`, `"a\u0000b"`, `"{}"`) + "\n\n" + result("c1") + "\n" + say + "\n"
	put(t, st, parentID, map[string]string{transcriptFile: rows, eventsFile: allEvents})
	r, err := slice.RepairSession(t.Context(), st, parentID)
	require.NoError(t, err)
	require.Equal(t, slice.NoRepairNeeded, r.Status)
	_, err = slice.RepairSession(t.Context(), st, parentID, targets(accept.Gemini, accept.Provider(99))...)
	require.ErrorContains(t, err, "unknown provider")
	require.Equal(t, rows, get(t, st, parentID)[transcriptFile])

	r, err = slice.RepairSession(t.Context(), st, parentID, targets(accept.OpenAIResponses, accept.OpenAIChat)...)
	require.NoError(t, err)
	require.Equal(t, slice.Repaired, r.Status)
	require.Equal(t, slice.RepairCounts{Original: 4, Repaired: 4}, r.Counts)
	require.True(t, r.Original.Healthy() && r.Verification.Healthy())
	files := without(get(t, st, parentID))
	require.Equal(t, map[string]string{transcriptFile: files[transcriptFile], eventsFile: allEvents, repairBackup: rows}, files)
	require.Contains(t, files[transcriptFile], `"a_b"`)
	r, err = slice.RepairSession(t.Context(), st, parentID, targets(accept.Anthropic, accept.OpenAIChat, accept.OpenAIResponses, accept.Gemini)...)
	require.NoError(t, err)
	require.Equal(t, slice.NoRepairNeeded, r.Status)

	_, err = slice.Undo(t.Context(), st, parentID, repairBackup, nil)
	require.NoError(t, err)
	require.Equal(t, rows, get(t, st, parentID)[transcriptFile])
}
