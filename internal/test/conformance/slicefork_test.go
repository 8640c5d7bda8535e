package conformance

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/slice"
)

// memoryForkCase forks messages: it cuts and counts.
type memoryForkCase struct {
	Messages string `json:"messages_json"`
	Turn     *int
	Result   *struct {
		Turn     int    `json:"forked_from_turn"`
		Count    int    `json:"message_count"`
		Messages string `json:"messages_json"`
	}
	Error *failure
}

type memoryFork struct {
	sliced
	Turn, Count int
}

func (c memoryForkCase) run(t *testing.T) verdict {
	reference := memoryFork{sliced: sliced{Failed: c.Error.slicing()}}
	if c.Result != nil {
		reference.Rows, reference.Turn, reference.Count = texts(elements(c.Result.Messages)), c.Result.Turn, c.Result.Count
	}
	ours := memoryFork{sliced: sliced{Rows: []string{}}}
	msgs := readMessages(t, c.Messages)
	if turns := slice.CountTurns(msgs); turns > 0 {
		turns = c.at(turns)
		msgs, err := slice.ToTurn(msgs, turns, slice.Complete)
		ours = newMemoryFork(slicedOf(t, msgs, err), turns)
	}
	return judge(reference, ours, func(f *fired) memoryFork {
		raw := canonical(c.Messages)
		if raises(f, reference.Failed, raw) {
			return reference
		}
		turns := len(starts(view{f: f}.all(raw)))
		if turns == 0 {
			return memoryFork{sliced: sliced{Rows: []string{}}}
		}
		turns = c.at(turns)
		return newMemoryFork(cut(raw, turns, "complete", f), turns)
	})
}

// at is the turn to fork at: the last unless told otherwise.
func (c memoryForkCase) at(last int) int {
	if c.Turn != nil {
		return *c.Turn
	}
	return last
}

func newMemoryFork(s sliced, turn int) memoryFork {
	if s.Failed != "" {
		return memoryFork{sliced: s}
	}
	return memoryFork{sliced: s, Turn: turn, Count: len(s.Rows)}
}
