package workflow

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// said is what children printed: what was acknowledged, and what was begun.
type said struct {
	added, saved map[int64]string
	begun        map[string]bool // contents, phases
	status, next string          // the last that was set, and the one after it that was begun
}

func newSaid() *said {
	return &said{added: map[int64]string{}, saved: map[int64]string{}, begun: map[string]bool{}}
}

func (s *said) hear(t *testing.T, line string) {
	t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "message", "phase":
		s.begun[rest] = true
	case "status":
		s.next = rest
	case "set":
		s.status, s.next = rest, rest
	case "added", "saved":
		text, content, _ := strings.Cut(rest, " ")
		id, err := strconv.ParseInt(text, 10, 64)
		require.NoError(t, err, line)
		to := s.added
		if word == "saved" {
			to = s.saved
		}
		require.NotContains(t, to, id, "an id is of one record")
		to[id] = content
	default:
		t.Fatalf("child printed %q", line)
	}
}

// check requires that acknowledged ⊆ found ⊆ begun, and ids of one record.
func (s *said) check(t *testing.T, l *Workflow) {
	t.Helper()
	lost := testenv.Lost(t)
	messages, phases := map[int64]string{}, map[int64]string{}
	for _, m := range conversation(lost, l) {
		require.NotContains(t, messages, m.ID)
		require.True(lost, s.begun[m.Content], m.Content)
		messages[m.ID] = m.Content
	}
	for _, r := range outputs(lost, l) {
		require.NotContains(t, phases, r.ID)
		require.True(lost, s.begun[r.PhaseID], r.PhaseID)
		require.Equal(lost, r.PhaseID, r.PhaseName)
		phases[r.ID] = r.PhaseID
	}
	for id, content := range s.added {
		require.Equal(lost, content, messages[id])
	}
	for id, content := range s.saved {
		require.Equal(lost, content, phases[id])
	}
	if s.status == "" {
		return
	}
	md, err := l.store.Metadata(t.Context(), "s")
	require.NoError(lost, err)
	require.Contains(lost, []string{s.status, s.next}, md.Text(statusMember))
	require.Equal(lost, "research", md.Text(manifestMember))
	s.status, s.next = md.Text(statusMember), md.Text(statusMember)
}

// TestTwoProcesses writes one log from two processes and this one.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	const each = 25
	one, two := testenv.Spawn(t, "write", st.Dir(), strconv.Itoa(each)), testenv.Spawn(t, "write", st.Dir(), strconv.Itoa(each))
	all := newSaid()
	for i := range each {
		content := fmt.Sprintf("%d of the parent", i)
		all.begun[content] = true
		all.added[add(t, l, nil, userRole, content)] = content
		all.saved[save(t, l, PhaseOutput{PhaseID: content, PhaseName: content, Status: running})] = content
	}
	for _, line := range append(one.End(t), two.End(t)...) {
		all.hear(t, line)
	}
	require.Len(t, all.added, 3*each)
	require.Len(t, all.saved, 3*each)
	all.status = "" // the last one set is anybody's
	all.check(t, l)
	require.Len(t, conversation(t, l), 3*each)
	require.Len(t, outputs(t, l), 3*each)
}

// TestKills kills a writer again and again, in the midst of all its calls:
// what it said to be stored is found, nothing else but what it had begun,
// every line is whole once the next writer was there, and no id is given twice.
func TestKills(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	seed := testenv.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	all := newSaid()
	v := testenv.Victim{
		Name: "write", Dir: st.Dir(), Argument: "100000", Rounds: testenv.KillRounds(),
		Operations: 60, First: 30, Within: 30 * time.Millisecond,
		Acknowledges: func(line string) bool { return strings.HasPrefix(line, "saved ") },
	}
	for round := range v.Rounds {
		v.Kill(t, round, rng, func(line string) { all.hear(t, line) })
		all.check(t, l)
	}
	require.NotEmpty(t, all.saved)
	all.begun["last"] = true
	all.added[add(t, l, nil, userRole, "last")] = "last"
	all.saved[save(t, l, PhaseOutput{PhaseID: "last", PhaseName: "last", Status: running})] = "last"
	all.check(t, l)
	for _, name := range []string{conversationFile, phaseFile} {
		for line := range jsonl.Lines([]byte(readFile(t, st, name))) {
			require.True(testenv.Lost(t), line.Ended && line.Bytes[0] == '{' && line.Bytes[len(line.Bytes)-1] == '}', "%s line %d", name, line.Number)
		}
	}
	t.Logf("%d added, %d saved", len(all.added), len(all.saved))
}
