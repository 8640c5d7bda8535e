package projects_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// usages returns all that Usage tells, and the sum of it.
func usages(t *testing.T, p *projects.Projects, q projects.Query) (all []projects.Usage, sum projects.Usage) {
	t.Helper()
	for u, err := range p.Usage(t.Context(), q) {
		require.NoError(t, err)
		all = append(all, u)
		require.NoError(t, sum.Add(u.Usage))
	}
	return all, sum
}

// answer is the row of a response of one dollar and ten tokens.
func answer(session string, minute int) string {
	return fmt.Sprintf(`{"ts": "2026-11-22T12:%02d:00+00:00", "event": "llm:response", "session_id": %q, "data": {"model": "m", "usage": {"input_tokens": 10, "cost_usd": "1"}}}`+"\n", minute, session)
}

// TestUsageOfForks forks a session with its events, forks the fork, and copies
// the session to another project: each response counts once, in the session that
// it was made for.
func TestUsageOfForks(t *testing.T) {
	t.Parallel()
	top, ctx := t.TempDir(), t.Context()
	p := openProjects(t, top)
	st, err := p.Store("-a")
	require.NoError(t, err)
	var rows, events string
	for n := range 10 {
		rows += fmt.Sprintf(`{"role": "user", "content": "q", "timestamp": "2026-11-22T12:%02d:30+00:00"}`+"\n"+`{"role": "assistant", "content": "a", "timestamp": "2026-11-22T12:%02d:59+00:00"}`+"\n", n, n)
		events += answer("parent", n)
	}
	write(t, rows, st.Dir(), "parent", transcriptFile)
	write(t, events, st.Dir(), "parent", "events.jsonl")
	createdAt(t, "2026-11-22T12:00:00+00:00", st.Dir(), "parent")
	fork := func(from, to string, turn int) {
		t.Helper()
		forked, err := slice.Fork(ctx, st, from, &slice.ForkOptions{NewID: to, Turn: &turn, Events: true})
		require.NoError(t, err)
		require.Positive(t, forked.Events)
		text := read(t, st.Dir(), to, "events.jsonl")
		write(t, text+answer(to, 30+turn), st.Dir(), to, "events.jsonl")
	}
	fork("parent", "fork", 8)
	fork("fork", "a-fork-of-the-fork", 5)
	other := filepath.Join(top, "-b", "sessions")
	write(t, read(t, st.Dir(), "parent", "events.jsonl"), other, "parent", "events.jsonl") // as whoever copies a directory
	createdAt(t, "2026-11-22T12:00:00+00:00", other, "parent")
	write(t, read(t, st.Dir(), "fork", "events.jsonl"), other, "renamed", "events.jsonl")
	createdAt(t, "2026-11-22T11:00:00+00:00", other, "renamed")

	all, sum := usages(t, p, projects.Query{})
	sums, of := map[string]projects.Usage{}, map[string]string{}
	for _, u := range all {
		name := u.Project + " " + u.Session
		one := sums[name]
		require.NoError(t, one.Add(u.Usage))
		sums[name], of[name] = one, fmt.Sprint(one.Responses, " ", one.Cost)
		require.Equal(t, "m", u.Model)
		require.False(t, u.Exact)
	}
	require.Equal(t, map[string]string{"-a parent": "10 10", "-a fork": "1 1", "-a a-fork-of-the-fork": "1 1"}, of)
	require.Equal(t, 12, sum.Responses)
	require.Equal(t, "12", sum.Cost)
	require.Equal(t, int64(120), sum.Input)

	naive := 0
	for _, slug := range []string{"-a", "-b"} {
		logs, err := filepath.Glob(filepath.Join(top, slug, "sessions", "*", "events.jsonl"))
		require.NoError(t, err)
		for _, path := range logs {
			naive += strings.Count(read(t, path), "llm:response")
		}
	}
	require.Greater(t, naive, 3*sum.Responses)

	_, sum = usages(t, p, projects.Query{Project: "-b"})
	require.Equal(t, 10, sum.Responses, "of what is asked for, each counts once")
	_, sum = usages(t, p, projects.Query{Match: func(_ context.Context, _ *sessionstore.Store, id string) (bool, error) { return id == "fork", nil }})
	require.Greater(t, sum.Responses, 1, "the fork tells what it inherits")
}

// TestUsageOfOneLog reads the log that the Python tools read, and sessions
// without metadata.
func TestUsageOfOneLog(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	sessions := filepath.Join(top, "-a", "sessions")
	write(t, answer("s", 1), sessions, "s", "context-intelligence", "events.jsonl")
	write(t, answer("s", 2)+answer("s", 3), sessions, "s", "events.jsonl")
	createdAt(t, "2026-11-22T12:00:00+00:00", sessions, "s")
	write(t, answer("sub_x", 4)+answer("s", 5), sessions, "sub_x", "events.jsonl")
	write(t, answer("sub_x", 4), sessions, "file")
	write(t, answer("1", 6), sessions, ".trash", "1", "events.jsonl")
	all, sum := usages(t, openProjects(t, top), projects.Query{})
	require.Len(t, all, 2)
	require.Equal(t, []string{"s", "sub_x"}, []string{all[0].Session, all[1].Session})
	require.Equal(t, 2, sum.Responses)
	_, sum = usages(t, openProjects(t, top), projects.Query{Limit: 5})
	require.Equal(t, 1, sum.Responses)
	all, _ = usages(t, openProjects(t, top), projects.Query{Project: "-a"})
	require.Equal(t, "2026-11-21", all[0].At.In(time.FixedZone("", -13*3600)).Format(time.DateOnly))

	p := openProjects(t, top)
	write(t, "{damaged", sessions, "damaged", metadataFile)
	write(t, answer("damaged", 7), sessions, "damaged", "events.jsonl")
	counted := 0
	var failed error
	for u, err := range p.Usage(t.Context(), projects.Query{}) {
		failed = err
		counted += u.Responses
	}
	require.ErrorIs(t, failed, sessionstore.ErrCorrupt)
	require.Equal(t, 3, counted, "what is damaged hides nothing")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range p.Usage(ctx, projects.Query{}) {
		require.ErrorIs(t, err, context.Canceled)
	}
	for _, err := range new(projects.Projects).Usage(t.Context(), projects.Query{}) {
		require.ErrorIs(t, err, sessionstore.ErrClosed)
	}
}

// TestUsageOfATime has the responses between two times, and leaves logs unread that did
// not change since then.
func TestUsageOfATime(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	sessions := filepath.Join(top, "-a", "sessions")
	for n, id := range []string{"long", "bare", "idle"} { // the last two have no metadata
		write(t, answer(id, 10+n)+answer(id, 20+n)+answer(id, 30+n), sessions, id, "events.jsonl")
	}
	createdAt(t, "2025-01-01T12:00:00+00:00", sessions, "long")
	at := func(minute int) time.Time { return time.Date(2026, 11, 22, 12, minute, 0, 0, time.UTC) }
	idle := filepath.Join(sessions, "idle", "events.jsonl")
	require.NoError(t, os.Chtimes(idle, time.Time{}, at(10)))
	times := func(q projects.Query) (times []string) {
		all, _ := usages(t, openProjects(t, top), q)
		for _, u := range all {
			times = append(times, u.Session+u.At.Format(" :04"))
		}
		return times
	}
	require.Equal(t, []string{"long :20", "long :30", "bare :21", "bare :31"}, times(projects.Query{After: at(15)}))
	require.Equal(t, []string{"long :20", "bare :21"}, times(projects.Query{After: at(15), Before: at(30)}))
	require.Equal(t, []string{"long :10", "bare :11", "idle :12"}, times(projects.Query{Before: at(20)}))
	require.NoError(t, os.Chtimes(idle, time.Time{}, at(14)))
	require.Contains(t, times(projects.Query{After: at(15)}), "idle :22", "the clocks may differ a little")
	require.Equal(t, []string{"long :30"}, times(projects.Query{After: at(20), Limit: 1}))
}

// usageFamily makes sessions with forks, copies and replays, and knows what
// was really asked for.
type usageFamily struct {
	r      *rand.Rand
	dir    string
	made   int
	events map[string][]string // rows of each session, with the mark ID for its id
	ids    []string
}

func (f *usageFamily) event() string {
	f.made++
	id := ""
	if f.made%3 == 0 {
		id = fmt.Sprintf(`, "response_id": "resp-%d"`, f.made)
	}
	return fmt.Sprintf(`{"ts": "2026-11-%02dT12:00:%02d.%06d+00:00", "event": "llm:response", "session_id": "ID", "data": {"model": "m%d", "usage": {"input_tokens": %d, "cost_usd": "0.%03d"}%s}}`,
		1+f.made%5, f.made%60, f.made, f.made%3, f.made, f.made%1000, id)
}

// grow makes a session, or changes one.
func (f *usageFamily) grow() {
	if len(f.ids) == 0 || f.r.IntN(4) == 0 {
		id := fmt.Sprintf("s%d", len(f.ids))
		var rows []string
		if len(f.ids) > 0 && f.r.IntN(3) > 0 { // a fork
			parent := f.events[f.ids[f.r.IntN(len(f.ids))]]
			rows = append(rows, parent[:f.r.IntN(len(parent)+1)]...)
		}
		f.ids, f.events[id] = append(f.ids, id), rows
	}
	id := f.ids[f.r.IntN(len(f.ids))]
	rows := f.events[id]
	if len(rows) > 0 && f.r.IntN(4) == 0 { // some are told again
		rows = append(rows, rows[f.r.IntN(len(rows)):]...)
	}
	for range f.r.IntN(6) {
		rows = append(rows, f.event())
	}
	f.events[id] = rows
}

// TestUsageModel compares what is counted with what was made.
func TestUsageModel(t *testing.T) {
	t.Parallel()
	f := &usageFamily{r: testenv.Rand(t), dir: t.TempDir(), events: map[string][]string{}}
	for range testenv.Share(20, 60, 400) {
		f.grow()
	}
	naive := 0
	for n, id := range f.ids {
		sessions := filepath.Join(f.dir, fmt.Sprintf("-%d", n%3), "sessions")
		createdAt(t, noon.Add(time.Duration(n)*time.Minute).Format(time.RFC3339), sessions, id)
		place := filepath.Join(sessions, id)
		if n%2 == 0 {
			place = filepath.Join(place, "context-intelligence")
		}
		write(t, strings.ReplaceAll(strings.Join(f.events[id], "\n"), `"ID"`, `"`+id+`"`), place, "events.jsonl")
		naive += len(f.events[id])
	}
	input, responses := int64(0), 0
	all, sum := usages(t, openProjects(t, f.dir), projects.Query{})
	models, days := map[string]int{}, map[string]int{}
	for _, u := range all {
		input += u.Input
		responses += u.Responses
		models[u.Model] += u.Responses
		days[u.At.Format(time.DateOnly)] += u.Responses
	}
	require.Equal(t, f.made, responses)
	require.Equal(t, f.made, sum.Responses)
	require.Equal(t, int64(f.made)*int64(f.made+1)/2, input)
	for n := range 3 {
		require.Equal(t, (f.made+3-n)/3-map[bool]int{true: 1}[n == 0], models[fmt.Sprintf("m%d", n)])
	}
	require.Len(t, days, min(5, f.made))
	t.Logf("%d responses, of which all logs together tell %d", f.made, naive)
}

func ExampleProjects_Usage() {
	top, err := os.MkdirTemp("", "example-")
	check(err)
	defer os.RemoveAll(top)
	for _, id := range []string{"session", "copy"} { // which tells of the same response
		dir := filepath.Join(top, "project", "sessions", id)
		check(os.MkdirAll(dir, 0o700))
		check(os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte(answer(id, 0)), 0o600))
		check(os.WriteFile(filepath.Join(dir, metadataFile), []byte(`{"created": "2026-11-22T12:00:00+00:00"}`), 0o600))
	}
	all, err := projects.Open(top, nil)
	check(err)
	defer all.Close()
	byModel := map[string]projects.Usage{}
	for u, err := range all.Usage(context.Background(), projects.Query{}) {
		check(err)
		sum := byModel[u.Model]
		check(sum.Add(u.Usage))
		byModel[u.Model] = sum
	}
	for model, u := range byModel {
		fmt.Println(model, u.Responses, u.Input, u.Cost)
	}
	// Output: m 1 10 1
}
