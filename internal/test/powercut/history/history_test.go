package history_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
)

func rows(keys ...string) history.State { return history.State{Rows: keys, Number: history.None} }

func numbered(n int, keys ...string) history.State { return history.State{Rows: keys, Number: n} }

func call(from, to int, after history.State) *history.Call {
	return &history.Call{Kind: "save", From: from, To: to, After: after, Ended: true}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	session := &history.History{
		Subject: history.Subject{View: history.Session},
		Calls:   []*history.Call{call(10, 20, numbered(1, "a")), call(30, 40, numbered(2, "a", "b")), call(50, 60, history.Gone())},
	}
	for _, c := range []struct {
		name        string
		cut         int
		found       history.State
		acked, lost int
		what        string
	}{
		{"before all", 5, history.Gone(), 0, 0, ""},
		{"first under way, nothing", 15, history.Gone(), 0, 0, ""},
		{"first under way, done", 15, numbered(1, "a"), 0, 0, ""},
		{"first under way, made up", 15, rows("z"), 0, 0, "rows that no call wrote"},
		{"acknowledged", 20, numbered(1, "a"), 2, 0, ""},
		{"acknowledged, gone", 20, history.Gone(), 1, 1, "old"},
		{"acknowledged, empty", 20, rows(), 2, 2, "old, metadata of -1, acknowledged 1"},
		{"number lost", 25, rows("a"), 2, 1, "metadata of -1, acknowledged 1"},
		{"second under way, old", 35, numbered(1, "a"), 2, 0, ""},
		{"second under way, new", 35, numbered(2, "a", "b"), 2, 0, ""},
		{"second under way, mixed", 35, numbered(2, "a"), 2, 0, ""},
		{"second under way, torn", 35, numbered(2, "b"), 2, 1, "torn"},
		{"second acknowledged, old", 40, numbered(2, "a"), 3, 1, "old"},
		{"second acknowledged, twice", 40, numbered(2, "a", "b", "b"), 3, 1, "torn"},
		{"unreadable", 40, history.State{Err: "corrupt", Number: 2}, 3, 2, "cannot be read"},
		{"deletion under way", 55, history.Gone(), 2, 0, ""},
		{"deleted", 60, history.Gone(), 1, 0, ""},
		{"deleted and back", 60, numbered(2, "a", "b"), 1, 1, "old"},
	} {
		v := session.Judge(c.cut, c.found)
		require.Equal(t, history.Verdict{Acked: c.acked, Lost: c.lost, What: c.what, Kind: v.Kind}, v, c.name)
	}
}

func TestJudgeLogs(t *testing.T) {
	t.Parallel()
	log := &history.History{
		Subject: history.Subject{View: history.Events},
		Calls:   []*history.Call{call(10, 20, rows("a")), call(30, 40, rows("a", "b", "c"))},
	}
	require.Empty(t, log.Judge(35, rows("a", "b")).What, "some of what was under way")
	require.Zero(t, log.Judge(35, rows("a", "b")).Lost)
	require.Equal(t, "torn", log.Judge(35, rows("a", "c")).What)
	require.Equal(t, 1, log.Judge(35, rows()).Lost)
	require.Equal(t, 2, log.Judge(40, rows("a")).Lost)
}

func TestJudgeFailedCall(t *testing.T) {
	t.Parallel()
	failed := call(30, 40, rows("a"))
	failed.Failed = "disk full"
	h := &history.History{Subject: history.Subject{View: history.Session}, Calls: []*history.Call{call(10, 20, rows("a")), failed}}
	require.Zero(t, h.Judge(50, rows("a")).Lost)
	require.Equal(t, 1, h.Judge(50, rows()).Lost, "what was acknowledged before it stays acknowledged")
}

func TestJudgeLooseCall(t *testing.T) {
	t.Parallel()
	loose := call(30, 40, rows("a", "b"))
	loose.Loose = true
	h := &history.History{Subject: history.Subject{View: history.Cloud}, Calls: []*history.Call{call(10, 20, rows("a")), loose, call(50, 60, rows("a", "b"))}}
	require.Empty(t, h.Judge(45, rows("a")).What, "nothing was promised")
	require.Empty(t, h.Judge(45, rows("a", "b")).What)
	require.Equal(t, 1, h.Judge(45, rows("b")).Lost)
	require.Equal(t, 1, h.Judge(60, rows("a")).Lost, "what came after it was")
}

func TestJudgeRelaxed(t *testing.T) {
	t.Parallel()
	loose := func(from, to int, after history.State) *history.Call {
		c := call(from, to, after)
		c.Loose = true
		return c
	}
	h := &history.History{Subject: history.Subject{View: history.Cloud, Relaxed: true}, Calls: []*history.Call{
		loose(10, 20, rows("a", "b")), call(30, 40, rows("a", "b")), loose(50, 60, rows("a", "b", "c", "d")), loose(70, 80, rows("a")),
	}}
	require.Empty(t, h.Judge(25, rows("a")).What, "a part of what was not sent")
	require.Empty(t, h.Judge(25, history.State{Err: "corrupt"}).What)
	require.Equal(t, "rows that no call wrote", h.Judge(25, rows("b")).What)
	require.Equal(t, 1, h.Judge(40, rows("a")).Lost, "sent")
	require.Equal(t, 1, h.Judge(65, rows("a")).Lost)
	require.Empty(t, h.Judge(65, rows("a", "b", "c")).What)
	require.Equal(t, 2, h.Judge(65, rows("b", "c", "d", "a")).Acked)
	require.Equal(t, "torn", h.Judge(65, rows("b", "c")).What)
	require.Empty(t, h.Judge(80, rows("a")).What, "taken back")
}

func TestJudgeGroup(t *testing.T) {
	t.Parallel()
	h := &history.History{
		Subject: history.Subject{View: history.Session, Group: true},
		Calls:   []*history.Call{call(10, 30, rows("a")), call(15, 20, rows("b", "c")), call(25, 40, rows("d"))},
	}
	require.Equal(t, history.Verdict{Acked: 2, Kind: "save"}, h.Judge(22, rows("b", "c")))
	require.Equal(t, history.Verdict{Acked: 2, Kind: "save"}, h.Judge(22, rows("a", "b", "c")))
	require.Equal(t, 1, h.Judge(22, rows("b")).Lost)
	require.Equal(t, 1, h.Judge(22, rows("b", "b", "c")).Lost)
	require.Equal(t, "rows that no call wrote", h.Judge(22, rows("b", "c", "d")).What)
	require.Equal(t, 1, h.Judge(22, history.State{Rows: []string{"b", "c"}, Err: "corrupt"}).Lost)
}

func TestRead(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	enc := json.NewEncoder(&log)
	one, two := history.Subject{Mode: "durable", Dir: "d", ID: "1", View: history.Session}, history.Subject{Mode: "durable", Dir: "d", ID: "2", View: history.Events}
	state := rows("a")
	for _, n := range []history.Note{
		{At: 1, Call: 1, Subject: one, Kind: "save"},
		{At: 2, Call: 2, Subject: two, Kind: "append"},
		{At: 5, Call: 2, Subject: two, State: &state, Err: "no"},
		{At: 7, Call: 1, Subject: one, State: &state},
		{At: 9, Call: 3, Subject: one, Kind: "save"},
	} {
		require.NoError(t, enc.Encode(n))
	}
	all, err := history.Read(strings.NewReader(log.String()))
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, history.Call{Kind: "save", From: 1, To: 7, After: state, Ended: true}, *all[0].Calls[0])
	require.False(t, all[0].Calls[1].Ended)
	require.Equal(t, "no", all[1].Calls[0].Failed)
	require.True(t, all[1].Begun(2))
	require.False(t, all[1].Begun(1))
	_, err = history.Read(strings.NewReader(`{"call":1,"state":{}}`))
	require.ErrorContains(t, err, "has not begun")
}

func TestTally(t *testing.T) {
	t.Parallel()
	tally := history.Tally{}
	tally.Add("durable", "go", history.Verdict{Acked: 3, Lost: 1, What: "old", Kind: "save"})
	tally.Add("durable", "python", history.Verdict{Acked: 3, Kind: "save"})
	tally.Add("relaxed", "go", history.Verdict{Acked: 5, Kind: "save"})
	require.Equal(t, history.Count{Checks: 2, Acked: 6, Lost: 1, Wrong: 1}, tally.Sum("durable"))
	require.Equal(t, history.Count{Checks: 1, Acked: 3}, tally.Sum("durable", "python"))
	require.Contains(t, tally.String(), "durable/go/save")
	tally.Merge(tally)
	require.Equal(t, history.Count{Checks: 4, Acked: 12, Lost: 2, Wrong: 2}, tally.Sum("durable"))
	require.Equal(t, map[string]int{"old": 2}, tally["durable/go"].What)
}
