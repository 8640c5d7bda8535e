package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Count adds up the losses of readers in many checks.
type Count struct {
	Checks, Acked, Lost int
	Wrong               int // checks in which something was wrong, if nothing was lost
	What                map[string]int
}

// A Tally counts verdicts by names, such as "durable/go/append".
type Tally map[string]Count

// Add counts v under the names of mode and reader, and under the name of its call.
func (t Tally) Add(mode, reader string, v Verdict) {
	t.add(mode+"/"+reader, v)
	if v.Kind != "" {
		t.add(mode+"/"+reader+"/"+v.Kind, v)
	}
}

func (t Tally) add(name string, v Verdict) {
	c := t[name]
	c.Checks++
	c.Acked += v.Acked
	c.Lost += v.Lost
	if v.What != "" {
		c.Wrong++
		if c.What == nil {
			c.What = map[string]int{}
		}
		c.What[v.What]++
	}
	t[name] = c
}

// Sum adds the counts of all readers of a mode.
func (t Tally) Sum(mode string, readers ...string) (sum Count) {
	for name, c := range t {
		m, reader, _ := strings.Cut(name, "/")
		if m != mode || strings.Contains(reader, "/") || len(readers) > 0 && !slices.Contains(readers, reader) {
			continue
		}
		sum.Checks += c.Checks
		sum.Acked += c.Acked
		sum.Lost += c.Lost
		sum.Wrong += c.Wrong
	}
	return sum
}

// String returns a line for each name.
func (t Tally) String() string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t)) {
		c := t[name]
		fmt.Fprintf(&out, "  %-34s %7d checks, acknowledged %8d, lost %6d, wrong in %d %v\n",
			name, c.Checks, c.Acked, c.Lost, c.Wrong, c.What)
	}
	return out.String()
}

// Merge adds the counts of o.
func (t Tally) Merge(o Tally) {
	for name, c := range o {
		sum := t[name]
		sum.Checks += c.Checks
		sum.Acked += c.Acked
		sum.Lost += c.Lost
		sum.Wrong += c.Wrong
		for what, n := range c.What {
			if sum.What == nil {
				sum.What = map[string]int{}
			}
			sum.What[what] += n
		}
		t[name] = sum
	}
}
