package eventslog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

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

func (l *Log) summarise(ctx context.Context, f io.ReaderAt, sum *Summary) error {
	rs, err := newRecords(f, Cursor{}, l.newer)
	if err != nil {
		return err
	}
	count := counter{}
	last := value{}
	for {
		_, err := rs.next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if !l.event(&rs.scan) {
			continue
		}
		sum.Total++
		count.add(&rs.scan.head.event)
		at := rs.scan.time()
		if !at.truthy() {
			continue
		}
		if sum.First == "" {
			sum.First = at.show()
		}
		last.kind = at.kind
		last.raw = append(last.raw[:0], at.raw...)
	}
	sum.Last = last.show()
	for raw, n := range count {
		sum.Types[raw] += *n
	}
	return nil
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
