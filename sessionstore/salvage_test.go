package sessionstore_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

const (
	asideFile   = "transcript.jsonl.damaged-20260801T101500Z"
	olderAside  = "transcript.jsonl.damaged-20260701T101500Z"
	rewindFile  = "transcript.jsonl.bak-pre-rewind-20260901000000"
	earlyRewind = "transcript.jsonl.bak-pre-rewind-20260101000000"
	badUTF8     = "{\"role\": \"user\", \"content\": \"\xe2\x82\"}"
)

// three are the messages of a backup that is sound.
func three() []string { return []string{user("1"), user("2"), user("3")} }

// with returns three messages and more.
func with(more ...string) []string { return append(three(), more...) }

type salvageTest struct {
	name   string
	files  map[string]string
	beyond int      // of Load's Recovered
	want   []string // the transcript after Salvage; nil: nothing is written
	forks  []sessionstore.SalvageFork
}

// damagedNow are sessions whose transcript.jsonl is damaged.
func damagedNow() []salvageTest {
	main := func(content string) map[string]string {
		return map[string]string{transcriptFile: content, transcriptBackup: text(three()...)}
	}
	fork := func(rows, lacking int) []sessionstore.SalvageFork {
		return []sessionstore.SalvageFork{{File: transcriptFile, Rows: rows, Lacking: lacking}}
	}
	return []salvageTest{
		{name: "torn last line", files: main(text(with(user("4"), user("5"))...) + `{"rol`), beyond: 2, want: with(user("4"), user("5"))},
		{name: "torn first line beyond", files: main(text(three()...) + `{"rol`)},
		{name: "torn in a character", files: main(text(with(user("4"))...) + "{\"role\": \"\xc3"), beyond: 1, want: with(user("4"))},
		{name: "NUL tail", files: main(text(with(user("4"))...) + strings.Repeat("\x00", 4096)), beyond: 1, want: with(user("4"))},
		{name: "NUL in a line", files: main(text(with(user("4"), "\x00\x00"+user("5"), user("6"))...)), beyond: 2, want: with(user("4"), user("6"))},
		{name: "bad UTF-8 among them", files: main(text(with(user("4"), badUTF8, user("6"))...)), beyond: 2, want: with(user("4"), user("6"))},
		{name: "bad UTF-8 before them", files: main(text(with(badUTF8, user("5"))...)), beyond: 1, want: with(user("5"))},
		{name: "bad UTF-8 where the backup is good", files: main(text(user("1"), badUTF8, user("3"), user("4"))), forks: fork(3, 1)},
		{name: "a line between", files: main(text(user("1"), "bad", user("2"), user("3"), user("4"))), beyond: 1, want: with(user("4"))},
		{name: "values that are no messages", files: main(text(with("1", `"x"`, user("4"), "null")...) + "{"), beyond: 1, want: with(user("4"))},
		{name: "CR", files: main(strings.Join(with(user("4")), "\r\n") + "\r\n" + user("5") + "\r" + `{"rol`), beyond: 2, want: with(user("4")+"\r", user("5"))},
		{name: "blank lines", files: main("\n" + text(with("", user("4"), " \u00a0")...) + "{"), beyond: 1, want: with(user("4"))},
		{name: "without a last LF", files: main("bad\n" + text(three()...) + user("4")), beyond: 1, want: with(user("4"))},
		{name: "written in another way", files: main(strings.ReplaceAll(text(with(user("4"))...), `": "`, `":"`) + "{"), beyond: 1, want: with(strings.ReplaceAll(user("4"), `": "`, `":"`))},
		{name: "only junk", files: main("bad\n")},
		{name: "only NUL", files: main("\x00")},
		{name: "backup longer", files: main(text(user("1"), user("2")) + "{")},
		{name: "other rows", files: main(text(user("1"), user("x"), user("3"), user("4")) + "{"), forks: fork(4, 2)},
		{name: "another conversation", files: main(text(user("x"), user("y")) + "{"), forks: fork(2, 2)},
		{name: "empty backup", files: map[string]string{transcriptFile: text(user("1")) + "{", transcriptBackup: ""}, beyond: 1, want: []string{user("1")}},
		{
			name: "no backup", files: map[string]string{transcriptFile: text(user("1")) + "{"},
			forks: fork(1, 1),
		},
		{
			name: "both damaged", files: map[string]string{transcriptFile: text(with(user("4"))...) + "{", transcriptBackup: text(three()...) + "{"},
			forks: []sessionstore.SalvageFork{{File: transcriptFile, Rows: 4, Lacking: 4}, {File: transcriptBackup, Rows: 3, Lacking: 3}},
		},
		{
			name:  "an older damaged file beside",
			files: map[string]string{transcriptFile: text(with(user("4"))...) + "{", transcriptBackup: text(three()...), asideFile: text(with(user("x"))...) + "{"},
			want:  with(user("4")), beyond: 1,
			forks: []sessionstore.SalvageFork{{File: asideFile, Rows: 4, Lacking: 1}},
		},
	}
}

// damagedBefore are sessions whose damaged transcript was put aside.
func damagedBefore() []salvageTest {
	aside := text(with(user("4"))...) + "{"
	files := func(main, backup []string, more ...string) map[string]string {
		f := map[string]string{transcriptFile: text(main...), transcriptBackup: text(backup...), asideFile: aside}
		for i := 0; i < len(more); i += 2 {
			f[more[i]] = more[i+1]
		}
		return f
	}
	fork := []sessionstore.SalvageFork{{File: asideFile, Rows: 4, Lacking: 1}}
	return []salvageTest{
		{name: "saved again", files: files(three(), three()), want: with(user("4"))},
		{name: "the backup before", files: files(three(), three()[:2]), want: with(user("4"))},
		{name: "no backup", files: map[string]string{transcriptFile: text(three()...), asideFile: aside}, want: with(user("4"))},
		{name: "killed while it was saved", files: map[string]string{transcriptBackup: text(three()...), asideFile: aside}, want: with(user("4"))},
		{name: "went on", files: files(with(user("x")), three()), forks: fork},
		{name: "went on in the same way", files: files(with(user("4"), user("5")), three())},
		{name: "rewound by a save", files: files(three()[:2], three()), forks: []sessionstore.SalvageFork{{File: asideFile, Rows: 4, Lacking: 2}}},
		{name: "rewound by a tool", files: files(three()[:2], three()[:2], rewindFile, text(three()...)), forks: []sessionstore.SalvageFork{{File: asideFile, Rows: 4, Lacking: 2}}},
		{name: "rewound long before", files: files(three(), three(), earlyRewind, text(three()...)), want: with(user("4"))},
		{name: "emptied", files: map[string]string{transcriptFile: "", asideFile: aside}, forks: []sessionstore.SalvageFork{{File: asideFile, Rows: 4, Lacking: 4}}},
		{name: "no transcript", files: map[string]string{asideFile: aside}, forks: []sessionstore.SalvageFork{{File: asideFile, Rows: 4, Lacking: 4}}},
		{
			name: "the newest first", files: files(three(), three(), olderAside, text(with(user("old"))...)+"{"), want: with(user("4")),
			forks: []sessionstore.SalvageFork{{File: olderAside, Rows: 4, Lacking: 1}},
		},
		{name: "nothing lost", files: map[string]string{transcriptFile: text(three()...), transcriptBackup: text(user("1")), asideFile: text(user("1"), user("2")) + "{"}},
		{name: "never damaged", files: map[string]string{transcriptFile: text(three()...), transcriptBackup: text(user("1"))}},
		{name: "a sound file aside", files: map[string]string{
			transcriptFile: text(three()...), transcriptBackup: text(three()...), "transcript.jsonl.backup.damaged-20260801T101500Z": text(with(user("4"))...),
		}, forks: []sessionstore.SalvageFork{{File: "transcript.jsonl.backup.damaged-20260801T101500Z", Rows: 4, Lacking: 1}}},
		{name: "one of two equal messages", files: map[string]string{
			transcriptFile: text(with(user("x"))...), asideFile: text(with(user("3"))...) + "{",
		}, forks: fork},
	}
}

func TestSalvage(t *testing.T) {
	t.Parallel()
	for _, tt := range slices.Concat(damagedNow(), damagedBefore()) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, `{"turn_count": 3}`, dir, "s", metadataFile)
			for name, content := range tt.files {
				write(t, content, dir, "s", name)
			}
			checkSalvage(t, open(t, dir, nil), dir, tt)
		})
	}
}

func checkSalvage(t *testing.T, st *sessionstore.Store, dir string, tt salvageTest) {
	t.Helper()
	before := tree(t, dir)
	old, _ := st.Load(t.Context(), "s")
	if old.Recovered != nil {
		require.Equal(t, tt.beyond, old.Recovered.Beyond)
	} else {
		require.Zero(t, tt.beyond)
	}
	report, err := st.Salvage(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, tt.forks, report.Forks)
	if tt.want == nil {
		require.Equal(t, sessionstore.SalvageReport{Forks: tt.forks}, report)
		require.Equal(t, before, tree(t, dir), "nothing is written")
		return
	}
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Nil(t, s.Recovered)
	require.Equal(t, tt.want[len(old.Messages):], lines(s.Messages)[len(old.Messages):])
	require.Equal(t, report.Rows, len(s.Messages)-len(old.Messages))
	for name, content := range before {
		if strings.Contains(name, "metadata") {
			require.Equal(t, content, tree(t, dir)[name], "metadata stays")
		}
	}
	damaged := tt.files[transcriptFile]
	if tt.beyond == 0 {
		damaged = tt.files[asideFile]
	}
	require.Equal(t, damaged, read(t, report.From), "the damaged bytes are kept")
	again, err := st.Salvage(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, sessionstore.SalvageReport{Forks: tt.forks}, again, "once is enough")
	checkUndo(t, st, dir, old, report)
}

// checkUndo takes the salvage back, and then the undo.
func checkUndo(t *testing.T, st *sessionstore.Store, dir string, old *sessionstore.Session, report sessionstore.SalvageReport) {
	t.Helper()
	kept := read(t, report.Kept)
	after := read(t, dir, "s", transcriptFile)
	backups, err := slice.Backups(t.Context(), st, "s")
	require.NoError(t, err)
	at := slices.IndexFunc(backups, func(b slice.Backup) bool { return b.Name == filepath.Base(report.Kept) })
	require.GreaterOrEqual(t, at, 0, "%v", backups)
	require.Equal(t, "pre-salvage", backups[at].Label)
	undone, err := slice.Undo(t.Context(), st, "s", backups[at].Name, nil)
	require.NoError(t, err)
	require.Equal(t, slice.Undone, undone.Status)
	require.Equal(t, kept, read(t, dir, "s", transcriptFile))
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Nil(t, s.Recovered)
	require.Equal(t, lines(old.Messages), lines(s.Messages))
	require.Equal(t, old.Revision, s.Revision, "byte for byte")
	_, err = slice.Undo(t.Context(), st, "s", undone.BackupPath, nil)
	require.NoError(t, err)
	require.Equal(t, after, read(t, dir, "s", transcriptFile))
}

// TestSalvageLater loads and saves a damaged session as a program does that
// knows of no damage, and salvages then.
func TestSalvageLater(t *testing.T) {
	t.Parallel()
	for _, more := range []int{0, 1} {
		dir := t.TempDir()
		st := open(t, dir, nil)
		rows := parse(t, with(user("4"), user("5"))...)
		require.NoError(t, st.Save(t.Context(), "s", rows[:3], sessionstore.Metadata{}))
		require.NoError(t, st.Save(t.Context(), "s", rows, sessionstore.Metadata{}))
		write(t, read(t, dir, "s", transcriptFile)+`{"role": "us`, dir, "s", transcriptFile)
		s, err := st.Load(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, 2, s.Recovered.Beyond)
		require.NoError(t, st.Save(t.Context(), "s", append(s.Messages, rows[:more]...), s.Metadata))
		report, err := st.Salvage(t.Context(), "s")
		require.NoError(t, err)
		if more > 0 {
			require.Zero(t, report.Rows)
			require.Equal(t, []sessionstore.SalvageFork{{File: filepath.Base(s.Recovered.Kept), Rows: 5, Lacking: 2}}, report.Forks)
			continue
		}
		require.Equal(t, 2, report.Rows)
		require.Equal(t, s.Recovered.Kept, report.From)
		require.NoError(t, st.Append(t.Context(), "s", parse(t, user("6"))...))
		s, err = st.Load(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, with(user("4"), user("5"), user("6")), lines(s.Messages))
		_, err = slice.Undo(t.Context(), st, "s", report.Kept, nil)
		require.ErrorIs(t, err, slice.ErrWentOn)
	}
}

// TestSalvageFork makes a session of what does not fit into the transcript.
func TestSalvageFork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, text(with(user("x"))...), dir, "s", transcriptFile)
	write(t, text(with(user("4"), badUTF8, "7", user("5"))...)+"{", dir, "s", asideFile)
	write(t, text(user("elsewhere")), dir, "s", "other.jsonl")
	st := open(t, dir, nil)
	report, err := st.Salvage(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, []sessionstore.SalvageFork{{File: asideFile, Rows: 5, Lacking: 2}}, report.Forks)
	before := tree(t, filepath.Join(dir, "s"))
	forked, err := slice.Fork(t.Context(), st, "s", &slice.ForkOptions{NewID: "n", Damaged: report.Forks[0].File})
	require.NoError(t, err)
	s, err := st.Load(t.Context(), forked.ID)
	require.NoError(t, err)
	require.Equal(t, with(user("4"), user("5")), lines(s.Messages)[:5])
	parent, _ := s.Metadata.Lookup("parent_id")
	require.Equal(t, `"s"`, string(parent))
	require.Equal(t, before, tree(t, filepath.Join(dir, "s")), "the session does not change")
	for _, name := range []string{"other.jsonl", "none", "../s/" + asideFile, "transcript.jsonl.damaged-20260801T101501Z"} {
		_, err = slice.Fork(t.Context(), st, "s", &slice.ForkOptions{Damaged: name})
		require.ErrorIs(t, err, os.ErrNotExist, name)
	}
}

// While a newer tool's marker stands, the backup is the transcript, and nobody
// may take what follows it in the file for messages.
func TestSalvageMarked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, text(with(user("4"))...)+"{", dir, "s", transcriptFile)
	write(t, text(three()...), dir, "s", transcriptBackup)
	write(t, `{"version":1}`+"\n", dir, "s", markerFile)
	before := tree(t, dir)
	st := open(t, dir, nil)
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Zero(t, s.Recovered.Beyond)
	report, err := st.Salvage(t.Context(), "s")
	require.ErrorContains(t, err, "another tool is appending")
	require.Equal(t, sessionstore.SalvageReport{}, report)
	require.Equal(t, before, tree(t, dir))
}

func TestSalvageErrors(t *testing.T) {
	t.Parallel()
	st := open(t, t.TempDir(), nil)
	_, err := st.Salvage(t.Context(), "none")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = st.Salvage(t.Context(), "../x")
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)
}
