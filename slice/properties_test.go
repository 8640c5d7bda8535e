package slice_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

const (
	forkedText   = "Tool execution interrupted by session fork"
	closedText   = "The previous tool calls were interrupted by a session fork."
	repairedText = "Tool execution was interrupted and no result was captured."
	answeredText = "This response was automatically repaired."
)

// holdsToTurn checks everything that is said of ToTurn.
func holdsToTurn(t testing.TB, msgs []sessionstore.Message, turn int, mode slice.Orphans) {
	t.Helper()
	got, err := slice.ToTurn(msgs, turn, mode)
	list, ok := turnsMessage(msgs)
	if !ok {
		return
	}
	starts := startsOf(list)
	require.Equal(t, len(starts), slice.CountTurns(msgs))
	if turn < 1 || turn > len(starts) {
		require.Error(t, err)
		return
	}
	end := append(starts, len(msgs))[turn]
	orphans := orphansIn(list[:end])
	if mode != slice.Complete && mode != slice.Remove && len(orphans) > 0 {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	switch {
	case len(orphans) == 0:
		require.Equal(t, msgs[:end], got)
		return
	case mode == slice.Complete:
		requireCompleted(t, msgs[:end], got, orphans)
	default:
		requireRemoved(t, msgs[:end], got, orphans)
	}
	require.Empty(t, slice.OrphanedToolCalls(got))
	again, err := slice.ToTurn(got, turn, mode)
	require.NoError(t, err)
	require.Equal(t, got, again, "cutting twice is cutting once")
}

// requireCompleted requires the messages with nothing between them but results
// of orphans and answers before a turn.
func requireCompleted(t testing.TB, msgs, got []sessionstore.Message, orphans map[string]bool) {
	t.Helper()
	n := 0
	for i, m := range got {
		if n < len(msgs) && m == msgs[n] {
			n++
			continue
		}
		line := string(m.AppendTo(nil))
		made, ok := turnsMessage(got[i : i+1])
		switch {
		case strings.Contains(line, forkedText):
			require.True(t, ok && m.Role() == "tool" && len(made[0].results) == 1 && orphans[made[0].results[0]], line)
		default:
			require.Contains(t, line, closedText)
			require.Equal(t, "assistant", m.Role())
			require.Equal(t, 1, slice.CountTurns(got[i+1:i+2]), "an answer stands before a turn")
		}
	}
	require.Len(t, msgs, n, "every message is there, in order, with its bytes")
}

// requireRemoved requires the messages without the orphans, and all else of
// them byte for byte.
func requireRemoved(t testing.TB, msgs, got []sessionstore.Message, orphans map[string]bool) {
	t.Helper()
	require.Len(t, got, len(msgs))
	after, ok := turnsMessage(got)
	require.True(t, ok)
	before, _ := turnsMessage(msgs)
	for i, m := range got {
		if m == msgs[i] {
			continue
		}
		require.Equal(t, "assistant", m.Role())
		for name := range before[i].row {
			if name == "tool_calls" || name == "content" {
				continue
			}
			was, _ := msgs[i].Lookup(name)
			is, _ := m.Lookup(name)
			require.Equal(t, string(was), string(is), name)
		}
		kept := slices.DeleteFunc(slices.Clone(before[i].calls), func(id string) bool { return orphans[id] })
		require.Equal(t, fmt.Sprint(kept), fmt.Sprint(after[i].calls))
		require.Equal(t, before[i].unnamed, after[i].unnamed)
		require.Equal(t, before[i].parts, after[i].parts)
	}
}

// holdsRepair checks everything that is said of Diagnose, Repair and Rewind.
func holdsRepair(t testing.TB, msgs []sessionstore.Message) {
	t.Helper()
	d := diagnosed(t, msgs)
	require.Equal(t, d.Healthy(), len(d.Orphaned)+len(d.Misplaced)+len(d.Incomplete) == 0)
	fixed, err := slice.Repair(msgs, d)
	require.NoError(t, err)
	after := diagnosed(t, fixed)
	require.True(t, after.Healthy(), "%+v\n%s", after, strings.Join(lines(fixed), "\n"))
	again, err := slice.Repair(fixed, after)
	require.NoError(t, err)
	require.Equal(t, fixed, again, "repairing twice is repairing once")
	require.Empty(t, slice.OrphanedToolCalls(fixed))
	if d.Healthy() {
		require.Equal(t, msgs, fixed)
	}
	requireRepaired(t, msgs, fixed, d)

	back, err := slice.Rewind(msgs, d)
	require.NoError(t, err)
	require.Equal(t, lines(msgs[:len(back)]), lines(back), "the beginning is left")
	require.True(t, diagnosed(t, back).Healthy())
	if len(back) > 0 && len(back) < len(msgs) {
		require.True(t, slice.IsRealUser(msgs[len(back)]))
	}
}

// requireRepaired requires that every message is kept as it is, in order, but
// for results that were misplaced and calls that had no id.
func requireRepaired(t testing.TB, msgs, fixed []sessionstore.Message, d slice.Diagnosis) {
	t.Helper()
	before, ok := turnsMessage(msgs)
	after, okAfter := turnsMessage(fixed)
	if !ok || !okAfter {
		return
	}
	misplaced := map[string]bool{}
	for _, id := range d.Misplaced {
		misplaced[id] = true
	}
	isMisplaced := func(id string) bool { return misplaced[id] }
	orphans := orphansIn(before)
	for i, m := range fixed {
		if isNew(m) && m.Role() == "tool" && !slices.Contains(msgs, m) {
			id := after[i].results[0]
			require.True(t, orphans[id] || misplaced[id] || strings.HasPrefix(id, "repaired_"), "%q needed no result", id)
		}
	}
	n := 0
	for i, m := range msgs {
		switch s := before[i]; {
		case s.unnamed == 0 && !slices.ContainsFunc(s.results, isMisplaced):
			n = behindNew(fixed, n, func(other sessionstore.Message) bool { return other == m })
			require.Positive(t, n, "message %d is gone or changed: %s", i, m.AppendTo(nil))
		case s.unnamed > 0:
			n = behindNew(fixed, n, func(other sessionstore.Message) bool { return other.Role() == "assistant" && other != m })
			require.Positive(t, n, "message %d is gone", i)
			require.Zero(t, after[n-1].unnamed)
			require.Len(t, after[n-1].calls, len(s.calls)+s.unnamed)
			require.Equal(t, s.parts, after[n-1].parts)
		case s.role == "user" && s.parts+len(s.results) > countOf(s.results, isMisplaced):
			n = behindNew(fixed, n, func(other sessionstore.Message) bool { return other.Role() == "user" && other != m })
			require.Positive(t, n, "message %d is gone", i)
			require.Equal(t, s.parts, after[n-1].parts, "blocks that are no results stay")
		}
	}
	for n < len(fixed) {
		require.True(t, isNew(fixed[n]))
		n++
	}
}

// behindNew passes over messages that a repair made, and then over one that is
// meant. It returns 0 when there is another.
func behindNew(msgs []sessionstore.Message, n int, meant func(sessionstore.Message) bool) int {
	for ; n < len(msgs); n++ {
		if meant(msgs[n]) {
			return n + 1
		}
		if !isNew(msgs[n]) {
			break
		}
	}
	return 0
}

func isNew(m sessionstore.Message) bool {
	line := string(m.AppendTo(nil))
	return m.Role() == "tool" && strings.Contains(line, repairedText) || m.Role() == "assistant" && strings.Contains(line, answeredText)
}

func countOf(ids []string, meant func(string) bool) (n int) {
	for _, id := range ids {
		if meant(id) {
			n++
		}
	}
	return n
}

// holdsWindow compares Window with what is found by trying every beginning.
func holdsWindow(t testing.TB, msgs []sessionstore.Message, turns int) {
	t.Helper()
	got := slice.Window(msgs, turns)
	list, ok := turnsMessage(msgs)
	if !ok {
		return
	}
	starts := startsOf(list)
	from := 0
	switch {
	case turns <= 0:
		from = len(msgs)
	case len(starts) > turns:
		for _, start := range starts[:len(starts)-turns+1] {
			if !parts(list, start) {
				from = start
			}
		}
	}
	require.Equal(t, lines(msgs[from:]), lines(got))
}

// parts reports whether a result from start on answers a call before it.
func parts(list []seenBy, start int) bool {
	for i := start; i < len(list); i++ {
		for _, id := range list[i].results {
			at := i - 1
			for at >= 0 && !slices.Contains(list[at].calls, id) {
				at--
			}
			if at >= 0 && at < start {
				return true
			}
		}
	}
	return false
}
