package eventslog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/store/capture"
	"github.com/amplifier-go/sessionstorage/internal/store/decimal"
)

// Usage is the usage of one model on one day, as recorded with its responses. Add sums up
// several.
type Usage struct {
	Provider, Model string // "" if not recorded
	Day             string // of the responses, as 2026-11-23; "" if they have no time

	Responses int  // of the model, also those that failed
	Failed    int  // of the responses
	Priced    int  // responses with a cost
	Exact     bool // every response has an id, so that each is sure to count once

	Input      int64 // tokens, also those from the cache
	CacheRead  int64 // of Input: from the cache
	CacheWrite int64 // tokens that were put into the cache; they are billed beside Input
	Output     int64 // tokens
	Reasoning  int64 // of Output, where recorded

	Cost  string        // in US dollars: the decimal sum of the recorded costs, exact up to 28 digits
	Time  time.Duration // that the responses took
	Tools int           // calls of tools that ended, after a response of this model and before the next
}

// ErrOverflow is returned when a sum of costs is beyond the range of the tools: its
// exponent is larger than 999,999.
var ErrOverflow = decimal.ErrOverflow

// Add adds v to u. u keeps Provider, Model and Day where both have the same value; the zero
// Usage becomes v. The error is [ErrOverflow], or the error for a Cost that is not a
// number; then u is as it was.
func (u *Usage) Add(v Usage) error {
	cost, err := addCosts(u.Cost, v.Cost)
	if err != nil {
		return err
	}
	if *u == (Usage{}) {
		*u = Usage{Provider: v.Provider, Model: v.Model, Day: v.Day, Exact: true}
	}
	common := func(a, b string) string {
		if a == b {
			return a
		}
		return ""
	}
	*u = Usage{
		Provider: common(u.Provider, v.Provider), Model: common(u.Model, v.Model), Day: common(u.Day, v.Day),
		Responses: u.Responses + v.Responses, Failed: u.Failed + v.Failed, Priced: u.Priced + v.Priced, Exact: u.Exact && v.Exact,
		Input: u.Input + v.Input, CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Output: u.Output + v.Output, Reasoning: u.Reasoning + v.Reasoning,
		Cost: cost, Time: u.Time + v.Time, Tools: u.Tools + v.Tools,
	}
	return nil
}

// addCosts returns the sum of two costs, of which an empty one is zero.
func addCosts(a, b string) (string, error) {
	var n [2]decimal.Number
	for i, text := range [...]string{a, b} {
		ok := true
		if text != "" {
			n[i], ok = decimal.Parse(text)
		}
		if !ok {
			return "", errors.New("add usage: the cost is no decimal number")
		}
	}
	if a == "" {
		return n[1].String(), nil
	}
	if b == "" {
		return n[0].String(), nil
	}
	sum, err := decimal.Add(n[0], n[1])
	return sum.String(), err
}

// Counted remembers which responses and calls of tools were counted, so that each counts
// once over several logs: forks and copies of sessions may record the same ones. The zero
// Counted remembers nothing yet. It takes some 40 bytes for each, and is for one goroutine
// at a time.
type Counted struct{ seen map[identity]struct{} }

// first reports whether id is new, and remembers it.
func (c *Counted) first(id identity) bool {
	if c.seen == nil {
		c.seen = map[identity]struct{}{}
	}
	before := len(c.seen)
	c.seen[id] = struct{}{}
	return len(c.seen) > before
}

// UsageOptions are the settings of [Log.Usage]. The zero UsageOptions are fine.
type UsageOptions struct {
	Days    *time.Location // the time zone of the days; nil: UTC
	Counted *Counted       // events counted in other logs do not count; nil: only this log matters
}

// Usage yields the usage of the responses of models in the log, by day, provider and model,
// in the order of these. opts may be nil. The error comes last.
//
// A response counts once, however often the log records it. It is the same when it has the
// same id, provider and model. Without an id it is the same when it has the same time,
// provider, model, duration and usage, whatever session it names; the Usage is then not
// Exact. A response without an id and a time counts each time. Calls of tools count
// likewise.
//
// Rows count as for [Log.Refs]: rows of other sessions do not. Package sessionstore/cost
// gives the sums of the Python tools instead. They count a response twice when the log
// records it twice.
//
// Usage reads the whole log and holds one row at a time in memory. A missing
// log has no usage.
func (l *Log) Usage(ctx context.Context, opts *UsageOptions) iter.Seq2[Usage, error] {
	return func(yield func(Usage, error) bool) {
		t := usageTally{days: time.UTC, counted: &Counted{}, groups: map[usageGroup]*usageSum{}}
		if opts != nil && opts.Days != nil {
			t.days = opts.Days
		}
		if opts != nil && opts.Counted != nil {
			t.counted = opts.Counted
		}
		if err := l.readUsage(ctx, &t); err != nil {
			yield(Usage{}, fmt.Errorf("sum up usage: %w", err))
			return
		}
		for _, g := range slices.SortedFunc(maps.Keys(t.groups), compareGroups) {
			if !yield(t.groups[g].usage(g), nil) {
				return
			}
		}
	}
}

// readUsage adds up the usage in the log.
func (l *Log) readUsage(ctx context.Context, t *usageTally) error {
	return l.rows(ctx, func(ln line) error {
		if ln.long {
			return nil
		}
		e, counts, _ := capture.Parse(l.row(ln))
		if !counts {
			return nil
		}
		return t.add(e)
	})
}

// usageGroup is the day and the model of one Usage.
type usageGroup struct{ day, provider, model string }

func compareGroups(a, b usageGroup) int {
	return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.provider, b.provider), cmp.Compare(a.model, b.model))
}

// usageSum adds up the responses of one group.
type usageSum struct {
	Usage
	cost  decimal.Number
	loose bool // a response has no id
}

func (s *usageSum) usage(g usageGroup) Usage {
	u := s.Usage
	u.Day, u.Provider, u.Model, u.Exact, u.Cost = g.day, g.provider, g.model, !s.loose, s.cost.String()
	return u
}

// usageTally adds up the events of one log.
type usageTally struct {
	days            *time.Location
	counted         *Counted
	groups          map[usageGroup]*usageSum
	provider, model string // of the last response
}

// group returns the sum for the last model and the day of an event.
func (t *usageTally) group(at string) *usageSum {
	g := usageGroup{dayOf(at, t.days), t.provider, t.model}
	if t.groups[g] == nil {
		t.groups[g] = &usageSum{}
	}
	return t.groups[g]
}

// add counts an event unless it was counted before.
func (t *usageTally) add(e capture.Event) error {
	switch e.Name {
	case capture.LLMResponse:
		return t.addResponse(readResponse(e))
	case toolPost, toolError:
		c := readToolCall(e)
		if id, known := c.identity(); !known || t.counted.first(id) {
			t.group(c.at).Tools++
		}
	}
	return nil
}

func (t *usageTally) addResponse(r response) error {
	t.provider, t.model = r.provider, r.model
	id, known := r.identity()
	if known && !t.counted.first(id) {
		return nil
	}
	s := t.group(r.at)
	s.Responses++
	if r.failed {
		s.Failed++
	}
	s.loose = s.loose || r.id == ""
	s.Input += r.input
	s.CacheRead += r.cacheRead
	s.CacheWrite += r.cacheWrite
	s.Output += r.output
	s.Reasoning += r.reasoning
	s.Time += r.took
	if !r.priced {
		return nil
	}
	s.Priced++
	sum, err := decimal.Add(s.cost, r.cost)
	if err == nil {
		s.cost = sum
	}
	return err
}
