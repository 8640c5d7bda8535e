package slice

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Window returns the last turns of a conversation, at most maxTurns of them,
// and more where a result would be parted from its call. With so few turns it is
// the whole conversation, else messages before the first turn are left out.
// It shares the memory of msgs. Where all calls of the window's results are in
// it too, it takes no longer than the window is long.
func Window(msgs []sessionstore.Message, maxTurns int) []sessionstore.Message {
	if maxTurns <= 0 {
		return nil
	}
	open := map[string]bool{} // ids of results that no call was met for yet
	turns := 0
	for i := len(msgs) - 1; i >= 0; i-- {
		r := readRow(msgs[i])
		for _, id := range r.results {
			open[id] = true
		}
		for _, k := range r.calls {
			if k.named {
				delete(open, k.id)
			}
		}
		if !r.begins {
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

// wholeWindow is Window where calls before the last turns matter.
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

// startsOf returns where the turns begin.
func startsOf(rows []row) (starts []int) {
	for i, r := range rows {
		if r.begins {
			starts = append(starts, i)
		}
	}
	return starts
}

// partedBefore returns for every index how many results from there on answer
// calls before it.
func partedBefore(rows []row) []int {
	parts := make([]int, len(rows)+1)
	last := map[string]int{}
	for i, r := range rows {
		for _, id := range r.results {
			if at, ok := last[id]; ok {
				parts[at+1]++
				parts[i+1]--
			}
		}
		for _, c := range r.calls {
			if c.named {
				last[c.id] = i
			}
		}
	}
	for i := 1; i < len(parts); i++ {
		parts[i] += parts[i-1]
	}
	return parts
}
