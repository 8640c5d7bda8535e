package sessionstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// text ends every line with its LF.
func text(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

var (
	longInteger = `{"role": "user", "n": 1` + strings.Repeat("0", 4300) + `}`
	deepArrays  = `{"role": "user", "n": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`
)

// recoveryTests are damaged transcripts, what Load makes of them, and what
// the next Save must keep aside.
var recoveryTests = []struct {
	name      string
	files     map[string]string
	want      []string // what Load returns
	recovered bool     // with Recovered set
	corrupt   bool     // with ErrCorrupt
	aside     []string // files whose bytes the next save keeps aside
}{
	{
		name: "sound", files: map[string]string{transcriptFile: text(user("1"), user("2")), transcriptBackup: text(user("1"))},
		want: []string{user("1"), user("2")},
	},
	{
		name: "sound without a last LF", files: map[string]string{transcriptFile: text(user("1")) + user("2")},
		want: []string{user("1"), user("2")},
	},
	{
		name: "split at CR", files: map[string]string{transcriptFile: user("1") + "\r" + user("2") + "\r\n" + user("3") + "\r"},
		want: []string{user("1"), user("2"), user("3") + "\r"},
	},
	{
		name: "torn tail", files: map[string]string{transcriptFile: text(user("1"), user("2")) + `{"rol`, transcriptBackup: text(user("1"))},
		want: []string{user("1")}, recovered: true, aside: []string{transcriptFile},
	},
	{
		name: "torn tail, no backup", files: map[string]string{transcriptFile: text(user("1"), user("2")) + `{"rol`},
		want: []string{user("1"), user("2")}, corrupt: true, aside: []string{transcriptFile},
	},
	{
		name: "NUL bytes at the end", files: map[string]string{transcriptFile: text(user("1"), user("2")) + "\x00\x00\x00\x00", transcriptBackup: text(user("1"))},
		want: []string{user("1")}, recovered: true, aside: []string{transcriptFile},
	},
	{
		name: "only NUL bytes", files: map[string]string{transcriptFile: strings.Repeat("\x00", 4096), transcriptBackup: text(user("1"))},
		want: []string{user("1")}, recovered: true, aside: []string{transcriptFile},
	},
	{
		name: "emptied", files: map[string]string{transcriptFile: "", transcriptBackup: text(user("1")), metadataFile: `{"turn_count": 1}`},
		want: []string{user("1")}, recovered: true,
	},
	{
		name: "empty, no turn counted", files: map[string]string{transcriptFile: "", transcriptBackup: text(user("1")), metadataFile: `{"turn_count": 0}`},
		aside: []string{transcriptBackup},
	},
	{name: "rewound to nothing", files: map[string]string{
		transcriptFile: "", transcriptBackup: text(user("1")), metadataFile: `{"turn_count": 1}`,
		"transcript.jsonl.bak-pre-rewind-29991231235959": text(user("1")),
	}, aside: []string{transcriptBackup}},
	{name: "rewound long before", files: map[string]string{
		transcriptFile: "", transcriptBackup: text(user("1")), metadataFile: `{"turn_count": 1}`,
		"transcript.jsonl.bak-pre-rewind-20200101000000": text(user("0")),
	}, want: []string{user("1")}, recovered: true},
	{
		name: "bad UTF-8", files: map[string]string{transcriptFile: text(user("1"), "{\"role\": \"user\", \"content\": \"\xe2\x82\"}"), transcriptBackup: text(user("1"))},
		want: []string{user("1")}, recovered: true, aside: []string{transcriptFile},
	},
	{
		name: "4301 digits", files: map[string]string{transcriptFile: text(user("1"), longInteger, user("2")), transcriptBackup: text(user("1"))},
		want: []string{user("1")}, recovered: true, aside: []string{transcriptFile},
	},
	{
		name: "deep nesting", files: map[string]string{transcriptFile: text(user("1"), deepArrays, user("2")), transcriptBackup: text(user("1"))},
		want: []string{user("1")}, recovered: true, aside: []string{transcriptFile},
	},
	{
		name: "both damaged, main has more", files: map[string]string{transcriptFile: text(user("1"), "bad", user("2")), transcriptBackup: text(user("1"), "bad")},
		want: []string{user("1"), user("2")}, corrupt: true, aside: []string{transcriptFile, transcriptBackup},
	},
	{
		name: "both damaged, backup has more", files: map[string]string{transcriptFile: text("bad"), transcriptBackup: text(user("1"), "{")},
		want: []string{user("1")}, corrupt: true, aside: []string{transcriptFile, transcriptBackup},
	},
	{name: "missing", files: map[string]string{transcriptBackup: text(user("1"))}, want: []string{user("1")}},
	{
		name: "missing, backup damaged", files: map[string]string{transcriptBackup: text(user("1"), "bad")},
		want: []string{user("1")}, corrupt: true, aside: []string{transcriptBackup},
	},
	{
		name: "rows that are no objects", files: map[string]string{transcriptFile: text(user("1"), "1", "null", `["x"]`)},
		want: []string{user("1"), "1", "null", `["x"]`},
	},
	{name: "blank lines", files: map[string]string{transcriptFile: "\n \u00a0\n" + text(user("1")) + "\n"}, want: []string{user("1")}},
	{name: "UTF-8 signature", files: map[string]string{transcriptFile: "\ufeff" + text(user("1"))}, corrupt: true, aside: []string{transcriptFile}},
}

func TestRecovery(t *testing.T) {
	t.Parallel()
	for _, tt := range recoveryTests {
		for first, last := range map[string]string{transcriptFile: transcriptBackup, transcriptBackup: transcriptFile} {
			t.Run(tt.name+", changed last: "+last, func(t *testing.T) {
				t.Parallel()
				base := t.TempDir()
				dir := filepath.Join(base, "s")
				for name, content := range tt.files {
					write(t, content, dir, name)
				}
				for name, at := range map[string]time.Time{first: noon, last: noon.Add(time.Minute)} {
					if _, ok := tt.files[name]; ok {
						require.NoError(t, os.Chtimes(filepath.Join(dir, name), at, at))
					}
				}
				before := tree(t, dir)
				st := open(t, base, nil)
				s, err := st.Load(t.Context(), "s")
				if tt.corrupt {
					require.ErrorIs(t, err, sessionstore.ErrCorrupt)
					var where *sessionstore.CorruptError
					require.ErrorAs(t, err, &where)
					require.FileExists(t, where.Path)
				} else {
					require.NoError(t, err)
				}
				require.NotNil(t, s)
				require.ElementsMatch(t, tt.want, lines(s.Messages))
				require.Equal(t, tt.recovered, s.Recovered != nil)
				require.Equal(t, before, tree(t, dir), "Load does not write")
				saveRecovered(t, st, s, before, tt.aside)
			})
		}
	}
}

// saveRecovered saves a recovered session twice and looks at what is left of
// the files before.
func saveRecovered(t *testing.T, st *sessionstore.Store, s *sessionstore.Session, before map[string]string, aside []string) {
	t.Helper()
	dir := filepath.Join(st.Dir(), "s")
	require.NoError(t, st.Save(t.Context(), "s", append(s.Messages, parse(t, user("new"))...), sessionstore.Metadata{}))
	after := tree(t, dir)
	checkAsides(t, before, after, aside)
	checkReadable(t, before, after)
	if s.Recovered != nil && len(aside) > 0 {
		require.Equal(t, before[aside[0]], after[filepath.Base(s.Recovered.Kept)])
	}
	again, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Nil(t, again.Recovered)
	require.Equal(t, append(lines(s.Messages), user("new")), lines(again.Messages))

	require.NoError(t, st.Save(t.Context(), "s", append(again.Messages, parse(t, user("newer"))...), sessionstore.Metadata{}))
	last := tree(t, dir)
	checkAsides(t, before, last, aside)
	checkReadable(t, before, last)
}

// checkAsides requires that exactly these files were kept aside.
func checkAsides(t *testing.T, before, after map[string]string, names []string) {
	t.Helper()
	count := 0
	for name := range after {
		if strings.Contains(name, ".damaged-") {
			count++
		}
	}
	require.Equal(t, len(names), count)
	for _, name := range names {
		require.Equal(t, before[name], withPrefix(t, after, name+".damaged-"))
	}
}

// checkReadable requires that every message that could be read before can be
// read still, in one file or another.
func checkReadable(t *testing.T, before, after map[string]string) {
	t.Helper()
	var all strings.Builder
	for _, content := range after {
		all.WriteString(content)
		all.WriteByte('\n')
	}
	for name, content := range before {
		if !strings.HasPrefix(name, transcriptFile) {
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(content, "\r", "\n")) {
			require.Contains(t, all.String(), strings.TrimSpace(line))
		}
	}
}

func TestDirectoryInPlaceOfTranscript(t *testing.T) {
	t.Parallel()
	for _, name := range []string{transcriptFile, transcriptBackup, metadataFile, metadataBackup} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			dir := filepath.Join(base, "s")
			for _, file := range []string{transcriptFile, transcriptBackup} {
				write(t, text(user("1")), dir, file)
			}
			for _, file := range []string{metadataFile, metadataBackup} {
				write(t, `{"n": 1}`, dir, file)
			}
			require.NoError(t, os.Remove(filepath.Join(dir, name)))
			write(t, "inside", dir, name, "file")
			st := open(t, base, nil)
			s, err := st.Load(t.Context(), "s")
			require.NoError(t, err)
			require.Equal(t, []string{user("1")}, lines(s.Messages))
			require.Equal(t, !strings.HasSuffix(name, ".backup"), s.Recovered != nil)
			for i := range 3 {
				s.Messages = append(s.Messages, parse(t, user("new"))...)
				require.NoError(t, st.Save(t.Context(), "s", s.Messages, metadata(t, `{"n": `+string(rune('2'+i))+`}`)))
			}
			require.Equal(t, text(user("1"), user("new"), user("new"), user("new")), read(t, dir, transcriptFile))
			kept := ""
			for path, content := range tree(t, dir) {
				if content == "inside" {
					kept = path
				}
			}
			require.True(t, strings.HasPrefix(kept, name+".damaged-"), kept)
		})
	}
}

func TestMetadataRecovery(t *testing.T) {
	t.Parallel()
	placeholder := `{"session_id":"s","recovered":true,"recovery_time":"2026-11-18T12:00:00+00:00"}`
	tests := []struct {
		name, main, backup string // "": not there
		want               string
		recovered, corrupt bool
		aside              []string
	}{
		{"torn", `{"n": 2`, `{"n": 1}`, `{"n":1}`, true, false, []string{metadataFile}},
		{"a list", `[1]`, `{"n": 1}`, `{"n":1}`, true, false, []string{metadataFile}},
		{"NUL bytes", "\x00\x00", `{"n": 1}`, `{"n":1}`, true, false, []string{metadataFile}},
		{"bad UTF-8", "{\"n\": \"\xff\"}", `{"n": 1}`, `{"n":1}`, true, false, []string{metadataFile}},
		{"no-break space", "\u00a0{\"n\": 2}", `{"n": 1}`, `{"n":1}`, true, false, []string{metadataFile}},
		{"4301 digits", `{"n": 1` + strings.Repeat("0", 4300) + `}`, `{"n": 1}`, `{"n":1}`, true, false, []string{metadataFile}},
		{"missing", "", `{"n": 1}`, `{"n":1}`, false, false, nil},
		{"both damaged", `{"n": 2`, `{"n": `, placeholder, false, true, []string{metadataFile, metadataBackup}},
		{"damaged, no backup", `{"n": 2`, "", placeholder, false, true, []string{metadataFile}},
		{"neither", "", "", `{}`, false, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			dir := filepath.Join(base, "s")
			write(t, text(user("1")), dir, transcriptFile)
			for name, content := range map[string]string{metadataFile: tt.main, metadataBackup: tt.backup} {
				if content != "" {
					write(t, content, dir, name)
				}
			}
			before := tree(t, dir)
			st := open(t, base, &sessionstore.Options{Now: func() time.Time { return noon }})
			s, err := st.Load(t.Context(), "s")
			require.Equal(t, tt.corrupt, err != nil, err)
			if tt.corrupt {
				require.ErrorIs(t, err, sessionstore.ErrCorrupt)
			}
			require.Equal(t, tt.want, compact(t, s.Metadata))
			require.Equal(t, tt.recovered, s.Recovered != nil)
			require.Equal(t, []string{user("1")}, lines(s.Messages))
			require.Equal(t, before, tree(t, dir))

			_, err = st.UpdateMetadata(t.Context(), "s", func(md *sessionstore.Metadata) error {
				require.Equal(t, tt.want, compact(t, *md))
				return md.Set("x", true)
			})
			require.NoError(t, err)
			after := tree(t, dir)
			checkAsides(t, before, after, tt.aside)
			md, err := st.Metadata(t.Context(), "s")
			require.NoError(t, err)
			_, ok := md.Lookup("x")
			require.True(t, ok)
			if tt.recovered {
				require.Equal(t, before[metadataBackup], after[metadataBackup], "a good backup stays")
			}
		})
	}
}

// TestBothRecovered shows that a transcript and metadata may be recovered at once.
func TestBothRecovered(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "s")
	write(t, "bad", dir, transcriptFile)
	write(t, text(user("1")), dir, transcriptBackup)
	write(t, "bad", dir, metadataFile)
	write(t, `{"n": 1}`, dir, metadataBackup)
	s, err := open(t, base, nil).Load(t.Context(), "s")
	require.NoError(t, err)
	require.NotNil(t, s.Recovered)
	require.ErrorContains(t, s.Recovered.Reason, transcriptFile)
	require.ErrorContains(t, s.Recovered.Reason, metadataFile)
}

// TestSessionWithoutFiles is one that another program has begun.
func TestSessionWithoutFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, `{"event": "session:start"}`+"\n", dir, "s", "events.jsonl")
	st := open(t, dir, nil)
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, s.Messages)
	require.Equal(t, sessionstore.Revision{}, s.Revision)
	require.Nil(t, s.Recovered)
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("hi")), sessionstore.Metadata{}))
	md, err := st.Metadata(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, "s", md.Text("session_id"))
}
