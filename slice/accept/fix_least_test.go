package accept_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// What changes cost, as at Mend.
const (
	costReplace = 1
	costMove    = 2
	costInsert  = 3
	costDrop    = 5
)

// costOf returns what a mending costs.
func costOf(m accept.Fixed) (cost int) {
	moved := func(a accept.Amendment) bool {
		return slices.Contains(a.Reasons, accept.ResultLate) || slices.Contains(a.Reasons, accept.ResultEarly)
	}
	for _, a := range m.Amendments {
		switch {
		case a.Kind == accept.Replaced:
			cost += costReplace
		case a.Kind == accept.Inserted && moved(a):
			cost += costMove
		case a.Kind == accept.Inserted:
			cost += costInsert
		case !moved(a):
			cost += costDrop
		}
	}
	return cost
}

// TestMendIsLeast looks for a cheaper way to have small conversations accepted.
func TestMendIsLeast(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+testenv.Share[uint64](4, 10, 200); seed++ {
		r := rand.New(rand.NewPCG(seed, 5))
		rows := make([]string, 1+r.IntN(3))
		for i := range rows {
			rows[i] = smallRows[r.IntN(len(smallRows))]
		}
		for _, p := range providers {
			m := mend(t, p, parse(t, rows...))
			if cost := costOf(m); cost > 0 && cost <= 6 && !chooses(p, parse(t, rows...)) {
				better := cheaper(t, p, rows, cost)
				require.Nil(t, better, "seed %d %v: %s\nmended for %d: %v", seed, p, strings.Join(rows, "\n"), cost, lines(m.Messages))
			}
		}
	}
}

// chooses reports whether a call has several results: the one in its place
// stays, whatever that costs.
func chooses(p accept.Provider, msgs []sessionstore.Message) bool {
	return slices.ContainsFunc(accept.Check(p, msgs), func(r accept.Refusal) bool { return r.Reason == accept.DuplicateResult })
}

var smallRows = []string{
	ask, ask, reminder, say, say,
	calling("c1"), calling("c1"), calling("c1", "c2"), using("c2"),
	result("c1"), result("c1"), result("c2"),
	answering("c1", ""), answering("c2", moreText),
	`{"role": "user", "content": [{"type": "text", "text": "t"}, {"type": "tool_result", "tool_use_id": "c1", "content": "r"}]}`,
	answer(signed), answer(`{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "a"}`),
	answer(`{"type": "text", "text": "a"}, ` + signed), answer(`{"type": "text", "text": ""}, {"type": "text", "text": "a"}`),
}

// state is a conversation on the way, and what it costs to come there.
type state struct {
	rows []string
	cost int
}

// cheaper returns a conversation that is accepted for less than cost, or nil.
func cheaper(t *testing.T, p accept.Provider, rows []string, cost int) []string {
	t.Helper()
	levels := make([][]state, cost)
	levels[0] = []state{{rows, 0}}
	seen := map[string]bool{}
	for level := range levels {
		for i := 0; i < len(levels[level]); i++ {
			s := levels[level][i]
			key := strings.Join(s.rows, "\n")
			if seen[key] {
				continue
			}
			seen[key] = true
			if len(accept.Check(p, parse(t, s.rows...))) == 0 {
				return s.rows
			}
			for next := range s.steps() {
				if next.cost < cost {
					levels[next.cost] = append(levels[next.cost], next)
				}
			}
		}
	}
	return nil
}

// with returns a state in which rows[from:to] are others.
func (s state) with(from, to, cost int, rows ...string) state {
	return state{slices.Concat(s.rows[:from:from], rows, s.rows[to:]), s.cost + cost}
}

// steps yields all conversations that are one change away.
func (s state) steps() func(yield func(state) bool) {
	return func(yield func(state) bool) {
		for i, r := range s.rows {
			for _, line := range edits(r) {
				if !yield(s.with(i, i+1, costReplace, line)) {
					return
				}
			}
			if !onlyResults(r) {
				continue
			}
			rest := s.with(i, i+1, 0)
			for at := range len(rest.rows) + 1 {
				if !yield(rest.with(at, at, costMove, r)) {
					return
				}
			}
			if !yield(s.with(i, i+1, costDrop)) {
				return
			}
		}
		for at := range len(s.rows) + 1 {
			for _, line := range []string{result("c1"), result("c2"), reminder, say} {
				if !yield(s.with(at, at, costInsert, line)) {
					return
				}
			}
		}
	}
}

type smallRow struct {
	Role    string           `json:"role"`
	ID      string           `json:"tool_call_id,omitempty"`
	Content any              `json:"content"`
	Calls   []map[string]any `json:"tool_calls,omitempty"`
}

func small(line string) (r smallRow, blocks []any) {
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		panic(err)
	}
	blocks, _ = r.Content.([]any)
	return r, blocks
}

func kindOf(block any) string { return block.(map[string]any)["type"].(string) }

func onlyResults(line string) bool {
	r, blocks := small(line)
	if r.Role == "tool" {
		return true
	}
	return len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b any) bool { return kindOf(b) != "tool_result" })
}

// edits returns a message with one block less that is no text and no call,
// with its blocks in another order, or with a text added. Results keep their
// ids: they are given to no other call.
func edits(line string) (list []string) {
	r, blocks := small(line)
	add := func(r smallRow) {
		raw, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		list = append(list, string(raw))
	}
	for i, b := range blocks {
		text, _ := b.(map[string]any)["text"].(string)
		if kindOf(b) != "tool_use" && text == "" {
			less := r
			less.Content = slices.Delete(slices.Clone(blocks), i, i+1)
			add(less)
		}
	}
	if len(blocks) > 0 {
		turned := slices.Clone(blocks)
		slices.Reverse(turned)
		r.Content = turned
		add(r)
		if !onlyResults(line) { // such a message goes with its results
			r.Content = append(slices.Clone(blocks), map[string]any{"type": "text", "text": "filled"})
			add(r)
		}
		r.Content = blocks
	}
	return list
}
