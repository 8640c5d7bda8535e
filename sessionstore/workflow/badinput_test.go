package workflow

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestUnknownStatusesAndRoles has those of other versions in the logs: they
// are read as they are, and written never.
func TestUnknownStatusesAndRoles(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	writeFile(t, st, phaseFile, `{"id": 1, "phase_id": "phase_1", "status": "skipped", "user_input": "u"}`+"\n"+`{"id": 2, "phase_id": "phase_2", "status": ""}`+"\n")
	writeFile(t, st, conversationFile, `{"id": 1, "role": "developer", "content": "c"}`+"\n")
	require.Equal(t, "skipped", outputs(t, l)[0].Status)
	require.Empty(t, outputs(t, l)[1].Status)
	require.Equal(t, "developer", conversation(t, l)[0].Role)
	_, err := l.Resume(t.Context(), "s")
	require.EqualError(t, err, "Session s has no completed phases to resume from")
	_, err = l.SavePhaseOutput(t.Context(), "s", PhaseOutput{PhaseID: "phase_1", Status: "skipped"})
	require.EqualError(t, err, "Invalid status: skipped. Must be 'running', 'completed', or 'failed'")
}

// TestOversized keeps 64 MB of content, or 4 MB without [testenv.Long].
func TestOversized(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, `{}`, research)
	content := strings.Repeat("64 MB é\n", testenv.Share(4, 4, 64)<<20/9)
	save(t, l, PhaseOutput{PhaseID: "phase_1", Status: completed, Output: &content})
	save(t, l, PhaseOutput{PhaseID: "phase_1", Status: completed})
	add(t, l, nil, userRole, content)
	add(t, l, nil, userRole, "next")
	require.True(t, *outputs(t, l)[0].Output == content)
	messages := conversation(t, l)
	require.Len(t, messages, 2)
	require.True(t, messages[0].Content == content)
}

// TestWrongTypes has rows whose members are of wrong types: they are damage
// that is told and kept, and never takes the place of a record.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	good := `{"id": 1, "phase_id": "phase_1", "status": "completed", "output": "o"}` + "\n"
	for name, bad := range map[string]string{
		"id is a text":          `{"id": "2", "phase_id": "phase_1"}`,
		"id is a fraction":      `{"id": 2.5, "phase_id": "phase_1"}`,
		"id is too large":       `{"id": 123456789012345678901, "phase_id": "phase_1"}`,
		"phase is a number":     `{"id": 2, "phase_id": 7}`,
		"output is an object":   `{"id": 2, "phase_id": "phase_1", "output": {"secret": 1}}`,
		"an array":              `[{"id": 2, "phase_id": "phase_1"}]`,
		"two objects in a line": `{"id": 2, "phase_id": "phase_1"} {"id": 3}`,
		"NaN":                   `{"id": NaN, "phase_id": "phase_1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, st := newLog(t, `{}`, research)
			writeFile(t, st, phaseFile, good+bad+"\n")
			records, err := l.PhaseOutputs(t.Context(), "s")
			require.ErrorIs(t, err, sessionstore.ErrCorrupt)
			require.NotContains(t, err.Error(), "secret")
			require.Len(t, records, 1)
			require.Equal(t, "o", *records[0].Output)
			require.Equal(t, int64(3), save(t, l, PhaseOutput{PhaseID: "phase_2", Status: running}))
			require.True(t, strings.HasPrefix(readFile(t, st, phaseFile), good+bad+"\n"))
		})
	}
}

// TestMissingMembers has rows of other versions, without members and with more.
func TestMissingMembers(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	writeFile(t, st, phaseFile, `{}`+"\n"+`{"phase_id": "phase_1", "future": {"a": [1]}, "v": 9}`+"\n")
	writeFile(t, st, conversationFile, `{"future": null}`+"\n")
	records := outputs(t, l)
	require.Len(t, records, 2)
	require.Equal(t, PhaseRecord{ID: 2, SessionID: "s", PhaseID: "phase_1"}, records[1])
	require.Equal(t, []SessionMessage{{ID: 1, SessionID: "s"}}, conversation(t, l))
}

// TestUnknownPhase completes a phase that the manifest does not know.
func TestUnknownPhase(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, `{}`, research)
	save(t, l, PhaseOutput{PhaseID: "phase_1", Status: completed, UserInput: new("u")})
	save(t, l, PhaseOutput{PhaseID: "other", Status: completed})
	_, err := l.Resume(t.Context(), "s")
	require.EqualError(t, err, `resume session "s": phase "other" is not in manifest "research"`)
	require.Len(t, outputs(t, l), 2, "it is kept")
}

// TestSymlinkedSession has session directories that are symlinks.
func TestSymlinkedSession(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	err := os.Symlink("s", filepath.Join(st.Dir(), "inside"))
	testenv.Need(t, err == nil, "no symlinks here")
	outside := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(st.Dir(), "outside")))
	id, err := l.AddMessage(t.Context(), "inside", nil, userRole, "x")
	require.NoError(t, err, "one that stays among the sessions is one")
	require.Equal(t, int64(1), id)
	require.Len(t, conversation(t, l), 1)
	_, err = l.AddMessage(t.Context(), "outside", nil, userRole, "x")
	require.Error(t, err)
	_, err = l.SavePhaseOutput(t.Context(), "outside", PhaseOutput{PhaseID: "p", Status: running})
	require.Error(t, err)
	require.Error(t, l.SetStatus(t.Context(), "outside", failed))
	_, err = l.PhaseOutputs(t.Context(), "outside")
	require.Error(t, err)
	_, err = l.Resume(t.Context(), "outside")
	require.Error(t, err)
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// FuzzPhaseLog reads any log and extends it: nothing that is whole is changed,
// ids are of one phase each, and a second reader finds the same and one more.
func FuzzPhaseLog(f *testing.F) {
	for _, b := range beginnings {
		f.Add([]byte(b.phases))
	}
	f.Add([]byte("{}\n\n  \nnull\n{\"id\": 9223372036854775807}\n"))
	f.Add([]byte("{\"id\": 1, \"phase_id\": \"a\"}\n{\"id\": 1, \"phase_id\": \"b\"}\r\n\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		st, err := sessionstore.Open(t.TempDir(), &sessionstore.Options{Durability: sessionstore.Relaxed})
		require.NoError(t, err)
		defer st.Close()
		require.NoError(t, st.Create(t.Context(), "s", sessionstore.Metadata{}))
		writeFile(t, st, phaseFile, string(data))
		l := New(st, research)
		before, damage := l.PhaseOutputs(t.Context(), "s")
		whole, _ := jsonl.Log(data, func(line jsonl.Line) bool { _, ok := unmarshalPhase(line.Bytes); return ok }, func(jsonl.Line) {})
		const phase = "\uE000 a new one"
		id, err := l.SavePhaseOutput(t.Context(), "s", PhaseOutput{PhaseID: phase, Status: running})
		if err != nil {
			require.ErrorIs(t, err, errNoID)
			return
		}
		require.True(t, strings.HasPrefix(readFile(t, st, phaseFile), string(data[:whole])))
		after, again := l.PhaseOutputs(t.Context(), "s")
		require.Equal(t, damage == nil, again == nil)
		require.Len(t, after, len(before)+1)
		for _, r := range before {
			require.NotEqual(t, id, r.ID)
			require.Contains(t, after, r)
		}
	})
}

// FuzzRow holds that a row that was written reads back as it was.
func FuzzRow(f *testing.F) {
	f.Add("a", "b\n\"", "\u2028\x00", true)
	f.Add("\xff", "", "\U0001F600", false)
	f.Fuzz(func(t *testing.T, a, b, c string, null bool) {
		r := PhaseRecord{ID: 1, PhaseID: a, PhaseName: b, Output: &c}
		if null {
			r.Output = nil
		}
		line, err := encodeRow(r)
		require.NoError(t, err)
		require.Equal(t, len(line)-1, strings.IndexByte(string(line), '\n'), "one line")
		back, ok := unmarshalPhase(line[:len(line)-1])
		require.True(t, ok)
		valid := func(s string) string { return string([]rune(s)) }
		require.Equal(t, []string{valid(a), valid(b)}, []string{back.PhaseID, back.PhaseName})
		require.Equal(t, null, back.Output == nil)
		if !null {
			require.Equal(t, valid(c), *back.Output)
		}
		require.True(t, json.Valid(line))
	})
}

// TestLogsArePlainFiles has a directory in the place of a log.
func TestLogsArePlainFiles(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`)
	require.NoError(t, os.Mkdir(filepath.Join(st.Dir(), "s", conversationFile), 0o700))
	_, err := l.AddMessage(t.Context(), "s", nil, userRole, "x")
	require.ErrorIs(t, err, vfs.ErrNotRegular)
	_, err = l.Conversation(t.Context(), "s", nil)
	require.ErrorIs(t, err, vfs.ErrNotRegular)
}
