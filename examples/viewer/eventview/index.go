package eventview

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/eventslog"
)

// Filter lets events through; the zero Filter all of them.
type Filter struct {
	Level string // in any case
	Name  string // a part of the name, in any case
	Lines *Lines // nil: all
}

// Lines are numbers of lines of a log, from 1.
type Lines map[int]bool

func (f Filter) lets(h eventslog.Head) bool {
	if f.Level != "" && !strings.EqualFold(f.Level, h.Level) {
		return false
	}
	if f.Lines != nil && !(*f.Lines)[h.Line] {
		return false
	}
	return f.Name == "" || strings.Contains(strings.ToLower(h.Event), strings.ToLower(f.Name))
}

// Every step-th event has a cursor.
const step = 256

// Index numbers the events of a log that a filter lets through, from 0. Its
// methods may be called by many goroutines.
type Index struct {
	log    *eventslog.Log
	filter Filter

	mu      sync.Mutex         // guards the fields below
	cursors []eventslog.Cursor // before event i*step
	known   int                // events up to end
	end     eventslog.Cursor
	epoch   int // counts how often the log turned out to be rewritten
}

// New returns an index of log, which reads nothing yet.
func New(log *eventslog.Log, f Filter) *Index { return &Index{log: log, filter: f} }

// Page is a part of the list of events.
type Page struct {
	From     int   `json:"from"` // number of the first row
	Rows     []Row `json:"rows"`
	Known    int   `json:"known"`    // events that are numbered so far
	Complete bool  `json:"complete"` // there are no further ones
	Epoch    int   `json:"epoch"`    // a change says that the log was rewritten: forget all rows
}

// Row is the head of an event.
type Row struct {
	Line  int    `json:"line"`
	Size  int64  `json:"size"` // in bytes
	Time  string `json:"time,omitempty"`
	Event string `json:"event"`
	Level string `json:"level"`
	At    string `json:"at"` // the place of the event, for [ParseAt]
}

// budget is how long one call reads on through a long log.
const budget = 250 * time.Millisecond

// large is the size of an event that takes a while to read.
const large = 64 << 10

// Page returns up to n events from number from on. It numbers further events for a
// fraction of a second: after a page without rows that is not complete, call it again.
func (x *Index) Page(ctx context.Context, from, n int) (Page, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	complete, err := x.extend(ctx)
	if err != nil {
		return Page{}, err
	}
	rows, err := x.rows(ctx, from, n)
	return Page{from, rows, x.known, complete, x.epoch}, err
}

// extend numbers further events until time is up, and reports whether it
// reached the end of the log.
func (x *Index) extend(ctx context.Context) (complete bool, err error) {
	deadline := time.Now().Add(budget)
	for seen := 0; ; {
		rewritten := false
		for h, err := range x.log.Heads(ctx, x.end) {
			if err != nil {
				return false, err
			}
			if rewritten = h.Rewritten; rewritten {
				x.forget()
				break
			}
			x.take(h)
			if seen++; (seen%64 == 0 || h.Size >= large) && time.Now().After(deadline) {
				return false, nil
			}
		}
		if !rewritten {
			return true, nil
		}
	}
}

func (x *Index) forget() {
	x.cursors, x.known, x.end = nil, 0, eventslog.Cursor{}
	x.epoch++
}

func (x *Index) take(h eventslog.Head) {
	if x.filter.lets(h) {
		if x.known%step == 0 {
			x.cursors = append(x.cursors, x.end)
		}
		x.known++
	}
	x.end = h.Next
}

// rows reads the numbered events again, up to n from number from on.
func (x *Index) rows(ctx context.Context, from, n int) ([]Row, error) {
	rows := []Row{}
	if from < 0 || from >= x.known {
		return rows, nil
	}
	i := from / step * step
	for h, err := range x.log.Heads(ctx, x.cursors[from/step]) {
		if err != nil {
			return nil, err
		}
		if h.Rewritten || len(rows) == n || i >= x.known {
			break // a rewritten log is noticed by the next call
		}
		if !x.filter.lets(h) {
			continue
		}
		if i >= from {
			rows = append(rows, RowOf(h))
		}
		i++
	}
	return rows, nil
}

// RowOf returns the row of a head.
func RowOf(h eventslog.Head) Row {
	r := Row{Line: h.Line, Size: h.Size, Event: short(h.Event), Level: short(h.Level), At: formatAt(h)}
	if !h.Time.IsZero() {
		r.Time = h.Time.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return r
}

// maxName limits the bytes of a name that are shown.
const maxName = 200

func short(s string) string { return Shorten(s, maxName) }

// Shorten cuts a text of more than n bytes at the end of a character.
func Shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
