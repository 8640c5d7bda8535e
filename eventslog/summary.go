package eventslog

import (
	"context"
	"errors"
	"fmt"
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
	sum := Summary{Types: map[string]int{}}
	f, err := l.open()
	if errors.Is(err, fs.ErrNotExist) {
		return sum, nil
	}
	if err == nil {
		err = errors.Join(l.count(ctx, f, &sum), f.Close())
	}
	if err != nil {
		return Summary{}, fmt.Errorf("summarise events: %w", err)
	}
	return sum, nil
}

// count adds the events of f to sum.
func (l *Log) count(ctx context.Context, f *os.File, sum *Summary) error {
	names := map[string]*int{} // how many events have a name, by its JSON; a pointer spares an allocation
	var last []byte
	ls := l.events()
	if err := ls.begin(ctx, f, Cursor{}); err != nil {
		return err
	}
	for ln, err := range ls.all() {
		if err != nil {
			return err
		}
		if !ls.parse(ln) {
			continue
		}
		name := ls.head.event
		if isContainer(name) {
			name = nil
		}
		if names[string(name)] == nil {
			names[string(name)] = new(int)
		}
		*names[string(name)]++
		if at := ls.time(); at != nil {
			if last = append(last[:0], at[:min(len(at), maxScalar)]...); sum.First == "" {
				sum.First = textOrJSON(last)
			}
		}
	}
	sum.Last = textOrJSON(last)
	for name, n := range names {
		shown := "unknown"
		if name != "" {
			shown = textOrJSON([]byte(name))
		}
		sum.Types[shown] += *n
		sum.Total += *n
	}
	return nil
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
