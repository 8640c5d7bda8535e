package phaseindex

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

const session = "3b0c1a52-7c58-4a3f-9d5e-000000000001"

func open(t *testing.T) (*sessionstore.Store, string) {
	t.Helper()
	st, err := sessionstore.Open(t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	require.NoError(t, st.Create(t.Context(), session, sessionstore.Metadata{}))
	return st, filepath.Join(st.Dir(), session, fileName)
}

// randomLine returns a line as this module, another tool or an accident writes
// it.
func randomLine(r *rand.Rand) []byte {
	switch r.IntN(12) {
	case 0:
		return []byte(`{"phase_id": "broken", "status": `)
	case 1:
		return nil
	case 2:
		return []byte(`[1, 2]`)
	case 3:
		return []byte("{\"phase_id\": \"p1\", \"id\": \"text\"}")
	}
	fields := map[string]any{"phase_id": fmt.Sprintf("p%d", r.IntN(6)), "phase_name": fmt.Sprintf("Phase %d", r.IntN(9)), "status": []string{"running", "completed", "failed", "odd"}[r.IntN(4)]}
	for _, name := range []string{"system_prompt", "user_input", "output", "error"} {
		switch r.IntN(5) {
		case 0:
			fields[name] = nil
		case 1:
			fields[name] = ""
		case 2:
			fields[name] = strings.Repeat("ä\"\n<script>", 1+r.IntN(1500))
		case 3:
			fields[name] = "short"
		}
	}
	if r.IntN(4) > 0 {
		fields["id"] = r.IntN(20)
	}
	if r.IntN(8) > 0 {
		at := fmt.Sprintf("2026-03-0%dT10:00:00.%03dZ", 1+r.IntN(3), r.IntN(1000))
		fields["created_at"], fields["updated_at"] = at, at
	}
	if r.IntN(20) == 0 {
		fields["system_prompt"] = 5
	}
	line, _ := json.Marshal(fields)
	if r.IntN(10) == 0 {
		line = bytes.ReplaceAll(line, []byte("system_prompt"), []byte("System_Prompt"))
	}
	return line
}

// TestLikeWorkflow grows random logs and compares an index that reads on with
// what package workflow reads.
func TestLikeWorkflow(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	r := rand.New(rand.NewPCG(seed, 9))
	for range 40 {
		st, path := open(t)
		x := New(st, session)
		var log []byte
		for range 12 {
			for range r.IntN(4) {
				log = append(append(log, randomLine(r)...), '\n')
			}
			now := log
			switch r.IntN(5) {
			case 0: // a writer was killed, or is about to write the LF
				if line := randomLine(r); len(line) > 0 {
					log = append(log, line[:1+r.IntN(len(line))]...)
					now = log
					log = log[:bytes.LastIndexByte(log, '\n')+1]
				}
			case 1:
				now = append(bytes.Clone(log), "{\"ph\x00\x00\n"...)
			case 2: // the log is another
				log = append(append([]byte{}, randomLine(r)...), '\n')
				now = log
			}
			require.NoError(t, os.WriteFile(path, now, 0o600))
			compare(t, st, x)
		}
	}
}

func compare(t *testing.T, st *sessionstore.Store, x *Index) {
	t.Helper()
	want, damage := workflow.New(st).PhaseOutputs(t.Context(), session)
	got, err := x.Records(t.Context(), 0)
	require.NoError(t, err)
	require.Len(t, got.Records, len(want))
	require.Equal(t, damage == nil, got.Damage == nil)
	if damage != nil {
		require.ErrorContains(t, damage, got.Damage.Error())
	}
	for i, w := range want {
		g := got.Records[i]
		require.Equal(t, isText(w.SystemPrompt) || isText(w.UserInput), g.HasPrompts, "phase %q", w.PhaseID)
		require.Equal(t, Record{
			ID: w.ID, SessionID: w.SessionID, PhaseID: w.PhaseID, PhaseName: w.PhaseName, Status: w.Status,
			Output: w.Output, Error: w.Error, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
			HasPrompts: g.HasPrompts, OutputSize: g.OutputSize,
		}, g)
		if i == 0 || w.ID != want[i-1].ID {
			whole, err := x.Record(t.Context(), firstOf(want, w.ID, x).ID)
			require.NoError(t, err)
			require.Contains(t, want, whole)
		}
	}
}

// firstOf returns the record that an id leads to where a foreign tool gave it
// to several phases.
func firstOf(all []workflow.PhaseRecord, id int64, x *Index) workflow.PhaseRecord {
	for _, e := range x.phases {
		if e.ID == id {
			for _, rec := range all {
				if rec.PhaseID == e.PhaseID {
					return rec
				}
			}
		}
	}
	return workflow.PhaseRecord{}
}

func TestSince(t *testing.T) {
	t.Parallel()
	st, path := open(t)
	log := workflow.New(st, workflow.Manifest{Name: "m", Phases: []string{"a", "b"}})
	save := func(id, status string, output *string) {
		_, err := log.SavePhaseOutput(t.Context(), session, workflow.PhaseOutput{PhaseID: id, PhaseName: id, Status: status, SystemPrompt: new(strings.Repeat("p", 1<<20)), Output: output})
		require.NoError(t, err)
	}
	x := New(st, session)
	none, err := x.Records(t.Context(), 0)
	require.NoError(t, err)
	require.Empty(t, none.Records)
	save("a", "running", nil)
	save("b", "running", nil)
	first, err := x.Records(t.Context(), 0)
	require.NoError(t, err)
	require.Len(t, first.Records, 2)
	save("b", "completed", new("done"))
	second, err := x.Records(t.Context(), first.Read)
	require.NoError(t, err)
	require.Len(t, second.Records, 1)
	require.Equal(t, "done", *second.Records[0].Output)
	require.True(t, second.Records[0].HasPrompts)
	listed, err := json.Marshal(second)
	require.NoError(t, err)
	require.NotContains(t, string(listed), "pppp")
	third, err := x.Records(t.Context(), second.Read)
	require.NoError(t, err)
	require.Empty(t, third.Records)
	require.NoError(t, os.Remove(path))
	gone, err := x.Records(t.Context(), third.Read)
	require.NoError(t, err)
	require.Equal(t, State{Records: []Record{}}, gone)
}

func TestLongOutputIsCut(t *testing.T) {
	t.Parallel()
	st, _ := open(t)
	long := strings.Repeat("ü", MaxOutput)
	_, err := workflow.New(st).SavePhaseOutput(t.Context(), session, workflow.PhaseOutput{PhaseID: "a", Status: "completed", Output: &long})
	require.NoError(t, err)
	x := New(st, session)
	s, err := x.Records(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, long[:MaxOutput], *s.Records[0].Output)
	require.Equal(t, len(long), s.Records[0].OutputSize)
	whole, err := x.Record(t.Context(), s.Records[0].ID)
	require.NoError(t, err)
	require.Equal(t, long, *whole.Output)
	_, err = x.Record(t.Context(), 99)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFailures(t *testing.T) {
	t.Parallel()
	st, path := open(t)
	gone := New(st, "3b0c1a52-7c58-4a3f-9d5e-000000000009")
	_, err := gone.Records(t.Context(), 0)
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = gone.Record(t.Context(), 1)
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = New(st, "../"+session).Records(t.Context(), 0)
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)

	x := New(st, session)
	_, err = x.Record(t.Context(), 1)
	require.ErrorIs(t, err, sessionstore.ErrNotFound, "a session without a log")
	require.NoError(t, os.WriteFile(path, []byte("{\"phase_id\": \"a\", \"status\": \"running\"}\n{secret\n{\"phase_id\": \"b\", \"status\": \"running\"}\n"), 0o600))
	s, err := x.Records(t.Context(), 0)
	require.NoError(t, err)
	require.Len(t, s.Records, 2)
	require.ErrorIs(t, s.Damage, sessionstore.ErrCorrupt)
	damage := (*sessionstore.CorruptError)(nil)
	require.ErrorAs(t, s.Damage, &damage)
	require.Equal(t, 2, damage.Line)
	require.NotContains(t, s.Damage.Error(), "secret")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = x.Records(ctx, 0)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, st.Close())
	_, err = x.Records(t.Context(), 0)
	require.ErrorIs(t, err, sessionstore.ErrClosed)
}
