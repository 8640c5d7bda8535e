package eventslog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
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
	f, err := l.open()
	if errors.Is(err, fs.ErrNotExist) {
		return Summary{Types: map[string]int{}}, nil
	}
	var t tally
	if err == nil {
		t, err = l.tally(ctx, f)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return Summary{}, fmt.Errorf("summarise events: %w", err)
	}
	return t.summary(), nil
}

// tally counts the events of a log.
type tally struct {
	names       map[string]*int // how many events have a name, by its JSON; a pointer spares an allocation
	first, last []byte          // times
}

// tally returns the counts of the events of f.
func (l *Log) tally(ctx context.Context, f *os.File) (tally, error) {
	t, ls := tally{names: map[string]*int{}}, l.events(false)
	if err := ls.begin(ctx, f, Cursor{}); err != nil {
		return t, err
	}
	for {
		_, err := ls.event()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		t.add(ls)
	}
}

// add counts the event that was read.
func (t *tally) add(ls *events) {
	name := ls.head.event
	if isContainer(name) {
		name = nil
	}
	if n := t.names[string(name)]; n != nil {
		*n++
	} else {
		n := 1
		t.names[string(name)] = &n
	}
	if at := ls.time(); at != nil {
		at = at[:min(len(at), maxKept)]
		if t.first == nil {
			t.first = bytes.Clone(at)
		}
		t.last = append(t.last[:0], at...)
	}
}

func (t *tally) summary() Summary {
	sum := Summary{Types: map[string]int{}, First: textOrJSON(t.first), Last: textOrJSON(t.last)}
	for name, n := range t.names {
		shown := "unknown"
		if name != "" {
			shown = textOrJSON([]byte(name))
		}
		sum.Types[shown] += *n
		sum.Total += *n
	}
	return sum
}

// textOrJSON returns the text of a string, and the JSON of another scalar as Python
// writes it. Containers are shown without their content.
func textOrJSON(value []byte) string {
	switch pyjson.KindOf(value) {
	case pyjson.Invalid:
		return ""
	case pyjson.String:
		return text(value)
	case pyjson.Object:
		return "{}"
	case pyjson.Array:
		return "[]"
	}
	json, err := pyjson.Append(nil, value, pyjson.Style{})
	if err != nil {
		return string(value) // it was cut
	}
	return string(json)
}
