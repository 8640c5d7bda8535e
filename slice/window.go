package slice

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Window returns the last turns of a conversation, at most maxTurns of them. It
// returns more where a result would be separated from its call. If the
// conversation has no more than maxTurns turns it returns all of it, else it
// leaves out the messages before the first turn. If maxTurns is not positive it
// returns nil.
//
// The result shares the memory of msgs. Window reads from the end: when every
// result of the window has its call there, the time depends on the window's
// length alone.
func Window(msgs []sessionstore.Message, maxTurns int) []sessionstore.Message {
	if maxTurns <= 0 {
		return nil
	}
	open := map[string]bool{} // ids of the results behind index i whose call is not
	turns := 0
	for i := len(msgs) - 1; i >= 0; i-- {
		r := readRow(msgs[i])
		for _, k := range r.Results() {
			open[k.ID] = true
		}
		for _, k := range r.Calls() {
			if k.Named {
				delete(open, k.ID)
			}
		}
		if !r.Begins {
			continue
		}
		if turns++; turns < maxTurns {
			continue
		}
		if len(open) > 0 {
			return wholeWindow(msgs, maxTurns)
		}
		if CountTurns(msgs[:i]) > 0 {
			return slices.Clip(msgs[i:])
		}
		break
	}
	return slices.Clip(msgs)
}

// wholeWindow is Window for a window that must begin before the last maxTurns
// turns. It reads the whole conversation.
func wholeWindow(msgs []sessionstore.Message, maxTurns int) []sessionstore.Message {
	rows := readRows(msgs)
	starts := startsOf(rows)
	if len(starts) <= maxTurns {
		return slices.Clip(msgs)
	}
	parts := partedBefore(rows)
	for n := len(starts) - maxTurns; n >= 0; n-- {
		if parts[starts[n]] == 0 {
			return slices.Clip(msgs[starts[n]:])
		}
	}
	return slices.Clip(msgs)
}

// startsOf returns the indexes of the messages that begin turns.
func startsOf(rows []turns.Row) (starts []int) {
	for i, r := range rows {
		if r.Begins {
			starts = append(starts, i)
		}
	}
	return starts
}

// partedBefore returns for every index how many results at or behind it answer
// calls before it.
func partedBefore(rows []turns.Row) []int {
	parts := make([]int, len(rows)+1)
	m := turns.Match(rows)
	for i, call := range m.Nearest() {
		if call >= 0 {
			parts[call+1]++
			parts[m.Results[i].Row+1]--
		}
	}
	for i := 1; i < len(parts); i++ {
		parts[i] += parts[i-1]
	}
	return parts
}
