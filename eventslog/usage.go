package eventslog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/internal/store/capture"
	"github.com/amplifier-go/sessionstorage/internal/store/decimal"
)

// Usage is the usage of a response of a model, as recorded with it. Add sums up several.
type Usage struct {
	Provider, Model string    // "" if not recorded
	At              time.Time // of the response, in UTC; zero if it was recorded without a time

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

// Add adds v to u. u keeps Provider and Model where both have the same value, and its At; the
// zero Usage becomes v. The error is for a Cost that is not a number, and for a sum whose
// exponent is larger than 999,999, which no tool reads; then u is as it was.
func (u *Usage) Add(v Usage) error {
	cost, err := addCosts(u.Cost, v.Cost)
	if err != nil {
		return err
	}
	if *u == (Usage{}) {
		*u = Usage{Provider: v.Provider, Model: v.Model, At: v.At, Exact: true}
	}
	common := func(a, b string) string {
		if a == b {
			return a
		}
		return ""
	}
	*u = Usage{
		Provider: common(u.Provider, v.Provider), Model: common(u.Model, v.Model), At: u.At,
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

// Usage yields the usage of each response of a model in the log, in the order of the log,
// and a Usage without Responses for each call of a tool that ended. A response or call that
// counted remembers is left out; nil: only this log matters. The error comes last.
//
// A response counts once, however often the log records it. It is the same when it has the
// same id, provider and model. Without an id it is the same when it has the same time,
// provider, model, duration and usage, whatever session it names; the Usage is then not
// Exact. A response without an id and a time counts each time. Calls of tools count
// likewise.
//
// Rows count as for [Log.Refs]: rows of other sessions do not. The Python tools differ:
// they count a response twice when the log records it twice.
//
// Usage reads the whole log and holds one row at a time in memory. A missing
// log has no usage.
func (l *Log) Usage(ctx context.Context, counted *Counted) iter.Seq2[Usage, error] {
	return func(yield func(Usage, error) bool) {
		t := usageReader{counted: counted}
		if counted == nil {
			t.counted = &Counted{}
		}
		for ln, err := range l.rows(ctx) {
			if err != nil {
				yield(Usage{}, fmt.Errorf("sum up usage: %w", err))
				return
			}
			if ln.long {
				continue
			}
			e, counts, _ := capture.Parse(l.row(ln))
			if !counts {
				continue
			}
			if u, first := t.read(e); first && !yield(u, nil) {
				return
			}
		}
	}
}

// usageReader reads the events of one log.
type usageReader struct {
	counted         *Counted
	provider, model string // of the last response
}

// read returns the usage of an event, and false if it has none or was counted before.
func (t *usageReader) read(e capture.Event) (u Usage, first bool) {
	switch e.Name {
	case capture.LLMResponse:
		r := readResponse(e)
		t.provider, t.model = r.Provider, r.Model
		id, known := r.identity()
		return r.Usage, !known || t.counted.first(id)
	case toolPost, toolError:
		c := readToolCall(e)
		id, known := c.identity()
		return Usage{Provider: t.provider, Model: t.model, At: pytime.Of(c.at), Exact: true, Cost: "0", Tools: 1}, !known || t.counted.first(id)
	}
	return Usage{}, false
}
