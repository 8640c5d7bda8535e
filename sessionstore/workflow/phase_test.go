package workflow

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestPreservation is the original contract's scenario of a running event
// followed by a completed one.
func TestPreservation(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, `{}`, research)
	first := save(t, l, PhaseOutput{PhaseID: "phase_1", PhaseName: "Research", Status: running, SystemPrompt: new("You are..."), UserInput: new("Analyze..."), Error: new("slow")})
	created := outputs(t, l)[0].CreatedAt
	second := save(t, l, PhaseOutput{PhaseID: "phase_1", PhaseName: "Renamed", Status: completed, Output: new("The analysis shows...")})
	require.Equal(t, first, second)
	records := outputs(t, l)
	require.Len(t, records, 1)
	r := records[0]
	require.Equal(t, PhaseRecord{
		ID: first, SessionID: "s", PhaseID: "phase_1", PhaseName: "Research", Status: completed, SystemPrompt: new("You are..."),
		UserInput: new("Analyze..."), Output: new("The analysis shows..."), CreatedAt: created, UpdatedAt: r.UpdatedAt,
	}, r, "the error is replaced by null")
	require.Greater(t, r.UpdatedAt, created)
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, created)

	save(t, l, PhaseOutput{PhaseID: "phase_1", Status: failed, SystemPrompt: new(""), UserInput: new("b"), Output: new("c"), Error: new("d")})
	r = outputs(t, l)[0]
	require.Equal(t, []string{"", "b", "c", "d"}, []string{*r.SystemPrompt, *r.UserInput, *r.Output, *r.Error}, "what is given replaces, an empty text too")
}

// TestUpsertTable saves every member over every other: what is given, null and
// empty.
func TestUpsertTable(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]struct{ first, then, replaced, kept *string }{
		"given over null":  {nil, new("b"), new("b"), new("b")},
		"given over given": {new("a"), new("b"), new("b"), new("b")},
		"null over given":  {new("a"), nil, nil, new("a")},
		"null over null":   {nil, nil, nil, nil},
		"empty over given": {new("a"), new(""), new(""), new("")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := newLog(t, `{}`, research)
			save(t, l, PhaseOutput{PhaseID: "p", PhaseName: "first", Status: running, SystemPrompt: p.first, UserInput: p.first, Output: p.first, Error: p.first})
			first := outputs(t, l)[0]
			save(t, l, PhaseOutput{PhaseID: "p", PhaseName: "then", Status: failed, SystemPrompt: p.then, UserInput: p.then, Output: p.then, Error: p.then})
			r := outputs(t, l)[0]
			require.Equal(t, PhaseRecord{
				ID: first.ID, SessionID: "s", PhaseID: "p", PhaseName: "first", CreatedAt: first.CreatedAt, // kept
				SystemPrompt: p.kept, UserInput: p.kept, Output: p.kept, // kept when the new value is null
				Status: failed, Error: p.replaced,
				UpdatedAt: r.UpdatedAt,
			}, r)
			require.Greater(t, r.UpdatedAt, first.UpdatedAt)
		})
	}
}

func TestPhaseOrder(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, `{}`)
	for i, phase := range []string{"b", "a", "c", "b"} {
		require.Equal(t, []int64{1, 2, 3, 1}[i], save(t, l, PhaseOutput{PhaseID: phase, Status: running}))
	}
	var order []string
	for _, r := range outputs(t, l) {
		order = append(order, r.PhaseID)
	}
	require.Equal(t, []string{"b", "a", "c"}, order)

	l, st := newLog(t, `{}`)
	line := func(id int, phase, at string) string {
		return fmt.Sprintf(`{"id": %d, "phase_id": %q, "status": "running", "created_at": %q}`+"\n", id, phase, at)
	}
	writeFile(t, st, phaseFile, line(5, "c", "2026-01-01T00:00:00.000Z")+line(2, "b", "2026-01-01T01:00:00+01:00")+
		line(9, "a", "2025-12-31T23:59:59.999Z")+line(1, "d", "2026-01-02T00:00:00.000Z"))
	order = nil
	for _, r := range outputs(t, l) {
		order = append(order, r.PhaseID)
	}
	require.Equal(t, []string{"a", "b", "c", "d"}, order)
}

func TestPhaseErrors(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	good := PhaseOutput{PhaseID: "phase_1", Status: running}
	other := good
	other.SessionID = new("t")
	tests := []struct {
		name, session string
		output        PhaseOutput
		want          string
		is            error
	}{
		{"status", "s", PhaseOutput{Status: "paused"}, "Invalid status: paused. Must be 'running', 'completed', or 'failed'", nil},
		{"empty status", "s", PhaseOutput{}, "Invalid status: . Must be 'running', 'completed', or 'failed'", nil},
		{"status before session", "none", PhaseOutput{Status: "x"}, "Invalid status: x. Must be 'running', 'completed', or 'failed'", nil},
		{"no session", "none", good, "Session none not found", sessionstore.ErrNotFound},
		{"other session", "s", other, `save phase output of session "s": output is of another session`, errOtherSession},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := l.SavePhaseOutput(t.Context(), tt.session, tt.output)
			require.EqualError(t, err, tt.want)
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
		})
	}
	_, err := l.SavePhaseOutput(t.Context(), "../s", good)
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)
	require.NoFileExists(t, filepath.Join(st.Dir(), "s", phaseFile))
	same := good
	same.SessionID = new("s")
	save(t, l, same)
}

func TestStart(t *testing.T) {
	t.Parallel()
	second := Manifest{"second", []string{"x"}}
	tests := []struct{ name, before, manifest, status string }{
		{"neither", `{}`, "research", inProgress},
		{"null", `{"manifest_name": null, "status": null}`, "research", inProgress},
		{"the manifest it began with", `{"manifest_name": "second"}`, "second", inProgress},
		{"a status", `{"status": "failed"}`, "research", failed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, st := newLog(t, tt.before, research, second)
			add(t, l, nil, userRole, "a message begins no workflow")
			md, err := st.Metadata(t.Context(), "s")
			require.NoError(t, err)
			require.Equal(t, strings.Contains(tt.before, "second"), md.Text("manifest_name") != "")
			save(t, l, PhaseOutput{PhaseID: "phase_1", Status: running})
			md, err = st.Metadata(t.Context(), "s")
			require.NoError(t, err)
			require.Equal(t, tt.manifest, md.Text("manifest_name"))
			require.Equal(t, tt.status, md.Text("status"))
		})
	}
}

// TestOnlyTheFirst saves a second output after the status was removed.
func TestOnlyTheFirst(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	save(t, l, PhaseOutput{PhaseID: "phase_1", Status: running})
	_, err := st.UpdateMetadata(t.Context(), "s", func(md *sessionstore.Metadata) error {
		md.Delete("status")
		return nil
	})
	require.NoError(t, err)
	save(t, l, PhaseOutput{PhaseID: "phase_2", Status: running})
	md, err := st.Metadata(t.Context(), "s")
	require.NoError(t, err)
	require.True(t, isMissing(md, "status"))
}

func TestSetStatus(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	old, err := st.Metadata(t.Context(), "s")
	require.NoError(t, err)
	save(t, l, PhaseOutput{PhaseID: "phase_1", Status: running})
	for _, status := range []string{inProgress, failed, completed} {
		require.NoError(t, l.SetStatus(t.Context(), "s", status))
		require.NoError(t, st.Save(t.Context(), "s", nil, old))
		md, err := st.Metadata(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, status, md.Text("status"), "a save with older metadata changes nothing")
		require.Equal(t, "research", md.Text("manifest_name"))
	}
	require.EqualError(t, l.SetStatus(t.Context(), "s", running), "Invalid status: running. Must be 'in_progress', 'completed', or 'failed'")
	require.EqualError(t, l.SetStatus(t.Context(), "none", failed), "Session none not found")
}

// TestOldLog reads and extends a log from before prompts were kept, with
// members and a status of another version.
func TestOldLog(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	old := `{"id": 4, "session_id": "s", "phase_id": "phase_1", "phase_name": "One", "status": "paused", "output": "o", "error": null, ` +
		`"created_at": "2025-01-01T00:00:00.000Z", "updated_at": "2025-01-01T00:00:01.000Z", "future": [1]}` + "\n"
	writeFile(t, st, phaseFile, old)
	require.Equal(t, []PhaseRecord{{
		ID: 4, SessionID: "s", PhaseID: "phase_1", PhaseName: "One", Status: "paused", Output: new("o"),
		CreatedAt: "2025-01-01T00:00:00.000Z", UpdatedAt: "2025-01-01T00:00:01.000Z",
	}}, outputs(t, l))
	require.Equal(t, int64(4), save(t, l, PhaseOutput{PhaseID: "phase_1", Status: completed, UserInput: new("u")}))
	require.Equal(t, int64(5), save(t, l, PhaseOutput{PhaseID: "phase_2", Status: running}))
	require.True(t, strings.HasPrefix(readFile(t, st, phaseFile), old), "nothing is rewritten")
	require.Equal(t, "o", *outputs(t, l)[0].Output)
}

func TestDeleted(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	save(t, l, PhaseOutput{PhaseID: "phase_1", Status: running})
	add(t, l, nil, userRole, "hello")
	require.NoError(t, st.Delete(t.Context(), "s"))
	require.NoDirExists(t, filepath.Join(st.Dir(), "s"))
	require.Empty(t, outputs(t, l))
	require.Empty(t, conversation(t, l))
	require.NoError(t, st.Create(t.Context(), "s", sessionstore.Metadata{}))
	require.Empty(t, outputs(t, l))
	require.Equal(t, int64(1), add(t, l, nil, userRole, "again"))
}

func TestOddContent(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, `{}`, research)
	large := strings.Repeat("line\n\u2028<&>\x00\U0001F600", 200_000)
	save(t, l, PhaseOutput{PhaseID: "a\xff\xfeb", Status: running, Output: &large, Error: new("bin\xffary")})
	save(t, l, PhaseOutput{PhaseID: "a\xff\xfeb", Status: running, Error: new("bin\xffary")})
	records := outputs(t, l)
	require.Len(t, records, 1)
	require.True(t, large == *records[0].Output)
	require.Equal(t, "bin\uFFFDary", *records[0].Error)
	require.Equal(t, "a\uFFFD\uFFFDb", records[0].PhaseID)
}

func TestSymlinks(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	before := readFile(t, st, "metadata.json")
	err := os.Symlink("metadata.json", filepath.Join(st.Dir(), "s", conversationFile))
	testenv.Need(t, err == nil, "no symlinks here")
	_, err = l.AddMessage(t.Context(), "s", nil, userRole, "x")
	require.ErrorIs(t, err, vfs.ErrNotRegular)
	_, err = l.Conversation(t.Context(), "s", nil)
	require.ErrorIs(t, err, vfs.ErrNotRegular)
	require.Equal(t, before, readFile(t, st, "metadata.json"))

	outside := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(st.Dir(), "out")))
	_, err = l.AddMessage(t.Context(), "out", nil, userRole, "x")
	require.Error(t, err)
	_, err = l.SavePhaseOutput(t.Context(), "out", PhaseOutput{PhaseID: "p", Status: running})
	require.Error(t, err)
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	writeFile(t, st, ownership.FenceName, "{}")
	_, err := l.AddMessage(t.Context(), "s", nil, userRole, "x")
	require.ErrorIs(t, err, sessionstore.ErrFenced)
	_, err = l.SavePhaseOutput(t.Context(), "s", PhaseOutput{PhaseID: "p", Status: running})
	require.ErrorIs(t, err, sessionstore.ErrFenced)
	require.Empty(t, conversation(t, l))
	require.NoError(t, st.Close())
	_, err = l.AddMessage(t.Context(), "s", nil, userRole, "x")
	require.ErrorIs(t, err, sessionstore.ErrClosed)
	_, err = l.PhaseOutputs(t.Context(), "s")
	require.ErrorIs(t, err, sessionstore.ErrClosed)
	_, err = l.Resume(t.Context(), "s")
	require.ErrorIs(t, err, sessionstore.ErrClosed)
}

// TestModel saves at random and compares with a map, also after the log lost
// its end or was opened anew.
func TestModel(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	l, st := newLog(t, `{}`, research)
	model := map[string]PhaseRecord{}
	text := func(keep *string) (given, kept *string) {
		if rng.IntN(2) == 0 {
			return nil, keep
		}
		s := strconv.Itoa(rng.IntN(1000))
		return &s, &s
	}
	for range 150 {
		switch rng.IntN(10) {
		case 0:
			writeFile(t, st, phaseFile, readFileOr(st, "")+`{"id": 99, "phase_id"`[:rng.IntN(20)])
		case 1:
			l = New(st, research)
		}
		p := PhaseOutput{PhaseID: strconv.Itoa(rng.IntN(8)), PhaseName: strconv.Itoa(rng.IntN(100))}
		p.Status = []string{running, completed, failed}[rng.IntN(3)]
		r, known := model[p.PhaseID]
		if !known {
			r = PhaseRecord{ID: int64(len(model)) + 1, SessionID: "s", PhaseID: p.PhaseID, PhaseName: p.PhaseName}
		}
		p.SystemPrompt, r.SystemPrompt = text(r.SystemPrompt)
		p.UserInput, r.UserInput = text(r.UserInput)
		p.Output, r.Output = text(r.Output)
		p.Error, r.Error = text(nil)
		r.Status = p.Status
		model[p.PhaseID] = r
		require.Equal(t, r.ID, save(t, l, p))
		found := outputs(t, l)
		require.Len(t, found, len(model))
		for _, f := range found {
			f.CreatedAt, f.UpdatedAt = "", ""
			require.Equal(t, model[f.PhaseID], f)
		}
		require.True(t, slices.IsSortedFunc(found, func(a, b PhaseRecord) int {
			return byCreation(a.CreatedAt, b.CreatedAt, a.ID, b.ID)
		}))
	}
}

func readFileOr(st *sessionstore.Store, other string) string {
	data, err := os.ReadFile(filepath.Join(st.Dir(), "s", phaseFile))
	if err != nil {
		return other
	}
	return string(data)
}
