package workflow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// oracle reads a phase log by json.Unmarshal of each line. first returns the record that
// an id leads to where a foreign tool gave it to several phases.
func oracle(data []byte) (records []PhaseRecord, damaged int, first map[int64]PhaseRecord) {
	var rows []PhaseRecord
	lastID := int64(0)
	jsonl.Log(data, func(line jsonl.Line) bool {
		row, ok := unmarshalPhase(line.Bytes)
		if !ok {
			return false
		}
		if row.ID <= 0 {
			row.ID = lastID + min(1, math.MaxInt64-lastID)
		}
		lastID = max(lastID, row.ID)
		rows = append(rows, row)
		return true
	}, func(line jsonl.Line) {
		lastID += min(1, math.MaxInt64-lastID)
		damaged = cmp.Or(damaged, line.Number)
	})
	records = foldRecords("s", rows)
	first = map[int64]PhaseRecord{}
	for _, r := range slices.Backward(records) {
		first[r.ID] = r
	}
	slices.SortStableFunc(records, func(a, b PhaseRecord) int {
		return byCreation(a.CreatedAt, b.CreatedAt, a.ID, b.ID)
	})
	return records, damaged, first
}

// unmarshalPhase reads a line of the log by json.Unmarshal.
func unmarshalPhase(line []byte) (r PhaseRecord, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return r, false
	}
	return r, json.Unmarshal(line, &r) == nil
}

// foldRecords makes one record of each phase, in order of first save.
func foldRecords(sessionID string, rows []PhaseRecord) []PhaseRecord {
	records := []PhaseRecord{}
	at := map[string]int{}
	for _, row := range rows {
		row.SessionID = sessionID
		i, known := at[row.PhaseID]
		if !known {
			at[row.PhaseID] = len(records)
			records = append(records, row)
			continue
		}
		r := &records[i]
		r.Status, r.Error, r.UpdatedAt = row.Status, row.Error, row.UpdatedAt
		r.SystemPrompt = cmp.Or(row.SystemPrompt, r.SystemPrompt)
		r.UserInput = cmp.Or(row.UserInput, r.UserInput)
		r.Output = cmp.Or(row.Output, r.Output)
	}
	return records
}

// randomLine returns a line as this module, another tool or an accident writes it.
func randomLine(r *rand.Rand) []byte {
	switch r.IntN(14) {
	case 0:
		return []byte(`{"phase_id": "broken", "status": `)
	case 1:
		return nil
	case 2:
		return []byte(`[1, 2]`)
	case 3:
		return []byte("{\"phase_id\": \"p1\", \"id\": \"text\"}")
	case 4:
		return []byte(phaseLines[r.IntN(len(phaseLines))])
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

// TestPhasesLikeJSON grows random logs and compares what all readers of phases return with
// json.Unmarshal of every line, also those that read on.
func TestPhasesLikeJSON(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	r := rand.New(rand.NewPCG(seed, 9))
	for range 40 {
		l, st := newLog(t, `{}`)
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
			writeFile(t, st, phaseFile, string(now))
			comparePhases(t, l, now)
		}
	}
}

func comparePhases(t *testing.T, l *Workflow, log []byte) {
	t.Helper()
	want, damaged, first := oracle(log)
	records, err := l.PhaseOutputs(t.Context(), "s")
	requireDamage(t, damaged, err)
	require.Equal(t, want, records)

	got, err := l.Phases(t.Context(), "s", 0)
	require.NoError(t, err)
	requireDamage(t, damaged, got.Damage)
	require.Len(t, got.Records, len(want))
	for i, w := range want {
		g := got.Records[i]
		size := 0
		if w.Output != nil {
			size = len(*w.Output)
		}
		require.Equal(t, PhaseSummary{
			ID: w.ID, SessionID: w.SessionID, PhaseID: w.PhaseID, PhaseName: w.PhaseName, Status: w.Status,
			Output: w.Output, Error: w.Error, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
			HasPrompts: isText(w.SystemPrompt) || isText(w.UserInput), OutputSize: size,
		}, g)
		whole, err := l.Phase(t.Context(), "s", w.ID)
		require.NoError(t, err)
		require.Equal(t, first[w.ID], whole)
	}
}

func isText(s *string) bool { return s != nil && *s != "" }

// requireDamage requires that an error tells of the damaged line, 0 for none.
func requireDamage(t *testing.T, line int, err error) {
	t.Helper()
	if line == 0 {
		require.NoError(t, err)
		return
	}
	var damage *sessionstore.CorruptError
	require.ErrorAs(t, err, &damage)
	require.Equal(t, line, damage.Line)
}

func TestSince(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, Manifest{Name: "m", Phases: []string{"a", "b"}})
	saveOf := func(id, status string, output *string) {
		save(t, l, PhaseOutput{PhaseID: id, PhaseName: id, Status: status, SystemPrompt: new(strings.Repeat("p", 1<<20)), Output: output})
	}
	since := func(read int64) Phases {
		t.Helper()
		p, err := l.Phases(t.Context(), "s", read)
		require.NoError(t, err)
		return p
	}
	require.Empty(t, since(0).Records)
	saveOf("a", running, nil)
	saveOf("b", running, nil)
	first := since(0)
	require.Len(t, first.Records, 2)
	saveOf("b", completed, new("done"))
	second := since(first.Read)
	require.Len(t, second.Records, 1)
	require.Equal(t, "done", *second.Records[0].Output)
	require.True(t, second.Records[0].HasPrompts)
	listed, err := json.Marshal(second)
	require.NoError(t, err)
	require.NotContains(t, string(listed), "pppp")
	third := since(second.Read)
	require.Empty(t, third.Records)
	require.NoError(t, os.Remove(filepath.Join(st.Dir(), "s", phaseFile)))
	require.Equal(t, Phases{Records: []PhaseSummary{}}, since(third.Read))
}

// TestReadsWhatIsNew damages what was read before: it is not read again, unless so many
// other sessions were asked for that the Workflow let go of this one.
func TestReadsWhatIsNew(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`)
	for i := range 3 {
		save(t, l, PhaseOutput{PhaseID: fmt.Sprint(i), Status: running, UserInput: new(strings.Repeat("long ", markSize))})
	}
	phases := func(id string, since int64) Phases {
		t.Helper()
		p, err := l.Phases(t.Context(), id, since)
		require.NoError(t, err)
		return p
	}
	before := phases("s", 0)
	f, err := os.OpenFile(filepath.Join(st.Dir(), "s", phaseFile), os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("x"), 0)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	for i := range maxPhaseLogs {
		other := fmt.Sprint("other", i)
		require.NoError(t, st.Create(t.Context(), other, sessionstore.Metadata{}))
		save(t, l, PhaseOutput{PhaseID: fmt.Sprint(3 + i), Status: running})
		all := phases("s", before.Read)
		require.NoError(t, all.Damage)
		require.Len(t, all.Records, 1)
		before = all
	}
	for i := range maxPhaseLogs {
		require.Empty(t, phases(fmt.Sprint("other", i), 0).Records)
	}
	requireDamage(t, 1, phases("s", before.Read).Damage)
	require.Equal(t, maxPhaseLogs, l.phases.lru.Len())
}

func TestLongOutputIsCut(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, `{}`)
	long := strings.Repeat("ü", maxSummaryText)
	save(t, l, PhaseOutput{PhaseID: "a", Status: completed, Output: &long, Error: new("x" + long)})
	all, err := l.Phases(t.Context(), "s", 0)
	require.NoError(t, err)
	require.Equal(t, long[:maxSummaryText], *all.Records[0].Output)
	require.Equal(t, ("x" + long)[:maxSummaryText-1], *all.Records[0].Error, "at the end of a character")
	require.Equal(t, len(long), all.Records[0].OutputSize)
	whole, err := l.Phase(t.Context(), "s", all.Records[0].ID)
	require.NoError(t, err)
	require.Equal(t, long, *whole.Output)
	require.Equal(t, "x"+long, *whole.Error)
	_, err = l.Phase(t.Context(), "s", 99)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestPhasesFailures(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`)
	_, err := l.Phases(t.Context(), "gone", 0)
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = l.Phase(t.Context(), "gone", 1)
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = l.Phases(t.Context(), "../s", 0)
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)

	_, err = l.Phase(t.Context(), "s", 1)
	require.ErrorIs(t, err, sessionstore.ErrNotFound, "a session without a log")
	writeFile(t, st, phaseFile, "{\"phase_id\": \"a\", \"status\": \"running\"}\n{secret\n{\"phase_id\": \"b\", \"status\": \"running\"}\n")
	all, err := l.Phases(t.Context(), "s", 0)
	require.NoError(t, err)
	require.Len(t, all.Records, 2)
	require.ErrorIs(t, all.Damage, sessionstore.ErrCorrupt)
	requireDamage(t, 2, all.Damage)
	require.NotContains(t, all.Damage.Error(), "secret")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.Phases(ctx, "s", 0)
	require.ErrorIs(t, err, context.Canceled)

	require.NoError(t, st.Close())
	_, err = l.Phases(t.Context(), "s", 0)
	require.ErrorIs(t, err, sessionstore.ErrClosed)
}

func TestPhasesBySymlink(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`)
	path := filepath.Join(st.Dir(), "s", phaseFile)
	testenv.Need(t, os.Symlink("metadata.json", path) == nil, "no symlinks here")
	_, err := l.Phases(t.Context(), "s", 0)
	require.ErrorIs(t, err, vfs.ErrNotRegular)
	_, err = l.PhaseOutputs(t.Context(), "s")
	require.ErrorIs(t, err, vfs.ErrNotRegular)
}

// hooked is a context that calls back when it is looked at.
type hooked struct {
	context.Context
	look func()
}

func (h hooked) Err() error {
	h.look()
	return h.Context.Err()
}

// TestCutWhileRead has a writer that cuts off an incomplete line and writes its own while
// the reader is in the middle of it: that is no damage.
func TestCutWhileRead(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`)
	line := func(phase string, size int) string {
		return fmt.Sprintf(`{"id": 1, "phase_id": %q, "user_input": %q}`, phase, strings.Repeat("x", size))
	}
	first, torn := line("a", 10)+"\n", `{"id": 2,                    "user_input": "`+strings.Repeat("y", 1<<20)
	now := first + line("b", 500<<10) + "\n" + line("c", 1<<20) + "\n"
	writeFile(t, st, phaseFile, first+torn)
	p, cut := newPhaseLog("s", textLimits{}), false
	require.NoError(t, l.refresh(hooked{t.Context(), func() {
		if p.lines == 1 && !cut {
			cut = true
			writeFile(t, st, phaseFile, now)
		}
	}}, p, nil))
	require.True(t, cut)
	require.NoError(t, p.damage)
	require.Len(t, p.phases, 3)
	require.Equal(t, "b", p.phases[1].PhaseID)
}
