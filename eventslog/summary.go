package eventslog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// Summary counts the events of a log.
type Summary struct {
	Total int            `json:"total_events"`
	Types map[string]int `json:"event_types"`     // by name; "unknown" without one or with a container as one
	First string         `json:"first_timestamp"` // "": none
	Last  string         `json:"last_timestamp"`
}

// Summary reads the whole log. Names and times that are no strings are given
// as their JSON. A missing log has no events.
func (l *Log) Summary(ctx context.Context) (Summary, error) {
	sum := Summary{Types: map[string]int{}}
	f, err := l.open()
	if errors.Is(err, fs.ErrNotExist) {
		return sum, nil
	}
	if err == nil {
		err = errors.Join(l.summarise(ctx, f, &sum), f.Close())
	}
	if err != nil {
		return Summary{}, fmt.Errorf("summarise events: %w", err)
	}
	return sum, nil
}

// summarise adds up the parts of the log, which workers read at the same time.
func (l *Log) summarise(ctx context.Context, f *os.File, sum *Summary) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	parts := newParting(fi.Size(), maxWorkers)
	tallies := make([]*tally, parts.workers)
	err = parts.run(ctx, func(ctx context.Context, worker int) error {
		t, rs := &tally{types: counter{}}, emptyRecords(l.newer)
		tallies[worker] = t
		for p, ok := parts.next(); ok; p, ok = parts.next() {
			if err := l.each(ctx, rs, f, p, func(record) error { t.add(p.number, &rs.scan); return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		total(sum, tallies)
	}
	return err
}

// tally is what one worker found in its parts.
type tally struct {
	events      int
	types       counter
	first, last stamp
}

// stamp is the time of an event as it stands in a part of the log.
type stamp struct {
	part int
	at   value // of no kind: there is none
}

func (s *stamp) set(part int, at *value) {
	s.part, s.at.kind = part, at.kind
	s.at.raw = append(s.at.raw[:0], at.raw...)
}

// add adds the event that line has read. A worker's parts come in their order.
func (t *tally) add(part int, line *scanner) {
	t.events++
	t.types.add(&line.head.event)
	at := line.time()
	if !at.truthy() {
		return
	}
	if t.first.at.kind == pyjson.Invalid {
		t.first.set(part, at)
	}
	t.last.set(part, at)
}

// total adds up what the workers found.
func total(sum *Summary, tallies []*tally) {
	var first, last stamp
	for _, t := range tallies {
		sum.Total += t.events
		for name, n := range t.types {
			sum.Types[name] += *n
		}
		if t.first.at.kind == pyjson.Invalid {
			continue
		}
		if first.at.kind == pyjson.Invalid || t.first.part < first.part {
			first = t.first
		}
		if last.at.kind == pyjson.Invalid || t.last.part > last.part {
			last = t.last
		}
	}
	sum.First, sum.Last = first.at.show(), last.at.show()
}

// counter counts names. A pointer to each number spares the making of a text
// for a name that is there already.
type counter map[string]*int

func (c counter) add(name *value) {
	key := name.raw
	switch {
	case name.kind == pyjson.Invalid || name.kind == pyjson.Object || name.kind == pyjson.Array:
		key = []byte("unknown")
	case name.kind == pyjson.String && plain(key):
		key = key[1 : len(key)-1]
	default:
		key = []byte(name.show())
	}
	if n := c[string(key)]; n != nil {
		*n++
		return
	}
	n := 1
	c[string(key)] = &n
}

// plain reports whether the string raw says itself.
func plain(raw []byte) bool {
	if len(raw) == maxKept {
		return false
	}
	for _, c := range raw {
		if c == '\\' || c == 0xed {
			return false
		}
	}
	return true
}

// show returns the text of a string, and the JSON of another scalar as Python
// writes it. Of a container, whose content is not kept, there is none.
func (v *value) show() string {
	switch v.kind {
	case pyjson.Invalid:
		return ""
	case pyjson.String:
		return v.text()
	case pyjson.Object:
		return "{}"
	case pyjson.Array:
		return "[]"
	}
	text, err := pyjson.Append(nil, v.raw, pyjson.Style{})
	if err != nil {
		return string(v.raw) // cut
	}
	return string(text)
}
