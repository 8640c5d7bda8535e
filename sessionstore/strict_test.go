package sessionstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

func openStrict(t *testing.T) (*Store, string) {
	t.Helper()
	st, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st, filepath.Join(st.Dir(), "sess")
}

// asciiJSON returns the messages or the metadata as the vectors write them.
func asciiJSON(t *testing.T, raw []byte) string {
	t.Helper()
	out, err := pyjson.Append(nil, raw, pyjson.Style{ASCII: true})
	require.NoError(t, err)
	return string(out)
}

// snapshot returns the content of every file in dir by name.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := map[string]string{}
	for _, e := range entries {
		if e.IsDir() {
			files[e.Name()] = "a directory"
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(b)
	}
	return files
}

func TestLoadStrictSession(t *testing.T) {
	t.Parallel()
	const row, other = `{"role": "user", "content": "a"}`, `{"role": "user", "content": "b"}`
	deep := `{"role": "user", "content": ` + strings.Repeat("[", 3000) + strings.Repeat("]", 3000) + `}`
	tests := []struct {
		name     string
		files    map[string]string
		rows     []string
		lines    []int // of the diagnostics
		recovers bool
	}{
		{"lines are kept exactly", map[string]string{"transcript.jsonl": " " + row + " \r\n\n" + other}, []string{" " + row + " \r", other}, nil, false},
		{"byte order mark is left out", map[string]string{"transcript.jsonl": row + "\n\xef\xbb\xbf" + other + "\n"}, []string{row, other}, nil, false},
		{"raw surrogates become escapes", map[string]string{"transcript.jsonl": "{\"role\": \"user\", \"content\": \"é\xed\xa0\xbd\xed\xb8\x80\"}\n"}, []string{`{"role": "user", "content": "é\ud83d\ude00"}`}, nil, false},
		{"empty file before full backup", map[string]string{"transcript.jsonl": "", "transcript.jsonl.backup": row + "\n", "metadata.json": `{"turn_count": 1}`}, nil, nil, false},
		{"deep nesting", map[string]string{"transcript.jsonl": deep + "\n", "transcript.jsonl.backup": row + "\n"}, []string{row}, []int{1, 0}, true},
		{"missing file", map[string]string{"transcript.jsonl.backup": row + "\n"}, []string{row}, []int{0}, false},
		{"marked append", map[string]string{"transcript.jsonl": row + "\n" + other + "\n", "transcript.jsonl.backup": row + "\n", sessiondir.Marker: ""}, []string{row}, []int{0, 0}, true},
		{"both halves recovered", map[string]string{
			"transcript.jsonl": row + "\n{", "transcript.jsonl.backup": row + "\n",
			"metadata.json": "{", "metadata.json.backup": "{}",
		}, []string{row}, []int{2, 0, 0, 0}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st, dir := openStrict(t)
			require.NoError(t, os.Mkdir(dir, 0o700))
			for name, content := range tt.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
			}
			s, diagnostics, err := st.LoadStrict(t.Context(), "sess")
			require.NoError(t, err)
			var rows []string
			for _, m := range s.Messages {
				rows = append(rows, string(m.AppendTo(nil)))
				_, err := ParseMessage(m.AppendTo(nil))
				require.NoError(t, err)
			}
			require.Equal(t, tt.rows, rows)
			var lines []int
			for _, d := range diagnostics {
				lines = append(lines, d.Line)
			}
			require.Equal(t, tt.lines, lines)
			require.Equal(t, tt.recovers, s.Recovered != nil)
			if tt.recovers {
				require.Equal(t, filepath.Join(dir, "transcript.jsonl"), s.Recovered.Path)
				require.Equal(t, filepath.Join(dir, "transcript.jsonl.backup"), s.Recovered.From)
				require.Error(t, s.Recovered.Reason)
			}
			require.Equal(t, len(tt.rows), s.Revision.Messages)
		})
	}
}

func TestLoadStrictFails(t *testing.T) {
	t.Parallel()
	st, dir := openStrict(t)
	_, _, err := st.LoadStrict(t.Context(), "sess")
	require.ErrorIs(t, err, ErrNotFound)
	_, _, err = st.LoadStrict(t.Context(), "..")
	require.ErrorIs(t, err, ErrInvalidID)

	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "transcript.jsonl"), []byte("{\"role\": \"user\"}\n{\"role\": 1, \"secret\": \"x\"}\n"), 0o600))
	_, diagnostics, err := st.LoadStrict(t.Context(), "sess")
	require.ErrorIs(t, err, ErrCorrupt)
	var corrupt *CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, 2, corrupt.Line)
	require.Equal(t, int64(17), corrupt.Offset)
	require.NotContains(t, corrupt.Error(), "secret")
	b, err := json.Marshal(diagnostics)
	require.NoError(t, err)
	require.JSONEq(t, `[{"code": "invalid_file", "source": "transcript", "line": 2}]`, string(b))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "transcript.jsonl"), []byte("{\"role\": \"user\"}\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte("[]"), 0o600))
	s, diagnostics, err := st.LoadStrict(t.Context(), "sess")
	require.ErrorIs(t, err, ErrCorrupt)
	require.Len(t, s.Messages, 1, "what came before the failure")
	require.Equal(t, []Diagnostic{{Code: "invalid_file", Source: "metadata"}}, diagnostics)

	require.NoError(t, st.Close())
	_, _, err = st.LoadStrict(t.Context(), "sess")
	require.ErrorIs(t, err, ErrClosed)
}

// TestStrictChanges compares the stamps of a session before and after a change
// of each kind.
func TestStrictChanges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(dir string) error
		want   []string
	}{
		{"nothing", func(string) error { return nil }, nil},
		{"append", func(dir string) error {
			return appendFile(filepath.Join(dir, "transcript.jsonl"), "x")
		}, []string{"transcript"}},
		{"appearance", func(dir string) error {
			return errors.Join(appendFile(filepath.Join(dir, "metadata.json.backup"), ""), appendFile(filepath.Join(dir, sessiondir.Marker), ""))
		}, []string{"metadata_backup", "transcript_append"}},
		{"disappearance", func(dir string) error {
			return os.Remove(filepath.Join(dir, "transcript.jsonl.backup"))
		}, []string{"transcript_backup"}},
		{"exchange", func(dir string) error {
			return os.Rename(filepath.Join(dir, "transcript.jsonl.backup"), filepath.Join(dir, "metadata.json"))
		}, []string{"transcript_backup", "metadata"}},
		{"another file", func(dir string) error { return appendFile(filepath.Join(dir, "events.jsonl"), "{}") }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st, dir := openStrict(t)
			require.NoError(t, os.Mkdir(dir, 0o700))
			for _, name := range []string{"transcript.jsonl", "transcript.jsonl.backup", "metadata.json"} {
				require.NoError(t, appendFile(filepath.Join(dir, name), name))
			}
			sub, err := st.openDir("sess")
			require.NoError(t, err)
			defer func() { require.NoError(t, sub.Close()) }()
			before := strictStamps(sub)
			require.NoError(t, tt.change(dir))
			var sources []string
			for _, d := range strictChanges(before, strictStamps(sub)) {
				require.Equal(t, "changed_during_read", d.Code)
				sources = append(sources, d.Source)
			}
			require.Equal(t, tt.want, sources)
		})
	}
}

// TestLoadStrictBesideSaves reads while the store writes: every read gives the
// whole transcript as it was at some time.
func TestLoadStrictBesideSaves(t *testing.T) {
	t.Parallel()
	st, _ := openStrict(t)
	row, err := ParseMessage([]byte(`{"role": "user", "content": "a"}`))
	require.NoError(t, err)
	const saves = 60
	done := make(chan error, 1)
	require.NoError(t, st.Create(t.Context(), "sess", Metadata{}))
	go func() {
		var rows []Message
		for range saves {
			rows = append(rows, row)
			if err := st.Save(t.Context(), "sess", rows, Metadata{}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for seen := 0; seen < saves; {
		s, diagnostics, err := st.LoadStrict(t.Context(), "sess")
		require.NoError(t, err)
		for _, d := range diagnostics {
			require.Equal(t, "changed_during_read", d.Code)
		}
		require.GreaterOrEqual(t, len(s.Messages), seen)
		seen = len(s.Messages)
		select {
		case err := <-done:
			require.NoError(t, err)
			done <- nil
		default:
		}
	}
	require.NoError(t, <-done)
}

func appendFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// FuzzStrictRows holds the reading of lines against the strict dialect: a file
// is refused exactly when a line of it is no message, and what is read can be
// read by every tool and has the value of its line.
func FuzzStrictRows(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "\v\f\r\n", "{\"role\":\"user\"}", "{\"role\":\"user\"}\r\n{\"role\":\"a\",\"n\":1e400}\n", "\xef\xbb\xbf{\"role\":\"user\"}\n",
		"{\"role\":\"user\",\"c\":\"\xed\xa0\x80\"}\n", "{\"role\":NaN,\"role\":\"x\"}\n", "{\"role\":1,\"role\":\"x\"}\n", "[]\n", "{\"role\":\"\"}\n", "{\"r\\u006fle\":\"x\"}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := file{name: "x", found: true, data: data}
		rows := file.strictRows(t.Context())
		var values [][]byte
		bad := 0
		for i, line := range bytes.Split(data, []byte("\n")) {
			if strings.Trim(string(line), " \t\r\v\f") == "" {
				continue
			}
			if pyjson.Check(line, pyjson.Strict) != nil || !hasRole(line) {
				bad = i + 1
				break
			}
			values = append(values, line)
		}
		if bad > 0 {
			require.NotNil(t, file.bad)
			require.Equal(t, bad, file.bad.Line)
			require.Empty(t, rows)
			return
		}
		require.Nil(t, file.bad)
		require.Len(t, rows, len(values))
		for i, m := range rows {
			require.NoError(t, pyjson.Check(m.AppendTo(nil), pyjson.Tolerant))
			require.NotEmpty(t, m.Role()+m.text("role"))
			require.Equal(t, asciiJSON(t, values[i]), asciiJSON(t, m.AppendTo(nil)))
			if utf8.Valid(data) {
				require.True(t, bytes.HasSuffix(values[i], m.AppendTo(nil)))
			}
		}
	})
}

// hasRole finds the last member role the slow way.
func hasRole(line []byte) bool {
	if pyjson.KindOf(line) != pyjson.Object {
		return false
	}
	role := ""
	for m := range pyjson.Members(line) {
		if pyjson.Text(m.Key) == "role" {
			role = ""
			if pyjson.KindOf(m.Value) == pyjson.String {
				role = string(m.Value)
			}
		}
	}
	return len(role) > 2
}
