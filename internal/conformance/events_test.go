package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
)

// Rules about the event log.
const (
	eventSession   rule = "event-session"
	eventSkipped   rule = "event-skipped"
	eventSurrogate rule = "event-surrogate"
	eventNaive     rule = "event-naive"
	eventUnknown   rule = "event-unknown"
	eventUnlimited rule = "event-unlimited"
	eventReported  rule = "event-reported"
)

func eventRules() []rule {
	return []rule{
		eventSession, eventSkipped, eventSurrogate, eventNaive, eventUnknown, eventUnlimited, eventReported,
	}
}

const eventsFile = "events.jsonl"

// lineCase is an event that is written.
type lineCase struct {
	Event string
	Data  string `json:"data_json"`
	Strip bool   `json:"strip_raw"`
	Files files
}

// sessionName is the directory of events that tell no session.
const sessionName = "unnamed"

func (c lineCase) run(t *testing.T) verdict {
	data := []byte(c.Data)
	if c.Strip { // what the caller does who does not want it
		data = pyjson.Remove(data, "raw")
	}
	reference := map[string]string{}
	for name, text := range c.Files {
		reference[name] = text
	}
	return judge(reference, writeEvent(t, c.Event, data), func(f *fired) map[string]string {
		id, _ := pyjson.Lookup(data, "session_id")
		if id == nil && f.by(eventSession) {
			named := append([]byte(`{"session_id":"`+sessionName+`",`), bytes.TrimPrefix(data, []byte("{"))...)
			return writeEvent(t, c.Event, named)
		}
		const half, whole = `\ud800`, `(half)`
		if bytes.Contains(data, []byte(half)) && f.by(eventSurrogate) {
			out := writeEvent(t, c.Event, bytes.ReplaceAll(data, []byte(half), []byte(whole)))
			for name := range out {
				out[name] = strings.ReplaceAll(out[name], whole, half)
			}
			return out
		}
		return reference
	})
}

// writeEvent returns the logs below a sessions directory after one event.
func writeEvent(t *testing.T, name string, data []byte) map[string]string {
	t.Helper()
	dir, id := t.TempDir(), sessionName
	if given, ok := pyjson.Lookup(data, "session_id"); ok {
		id = pyjson.Text(given)
	}
	log, err := eventslog.Open(filepath.Join(dir, id), &eventslog.Options{Now: now})
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), eventslog.Event{Name: name, Data: json.RawMessage(data)}))
	require.NoError(t, log.Close())
	text, err := os.ReadFile(filepath.Join(dir, id, eventsFile))
	require.NoError(t, err)
	line := strings.ReplaceAll(string(text), pytime.FormatMillis(now()), "<NOW_MS>")
	return map[string]string{id + "/" + eventsFile: line}
}

// sliceCase is a log that is counted, summed up and cut.
type sliceCase struct {
	Events  *content
	Cutoff  string
	NewID   string `json:"new_session_id"`
	Parent  string `json:"parent_session_id"`
	Count   int
	Error   *failure
	Output  *content
	Total   int             `json:"count_events"`
	Summary json.RawMessage `json:"summary_json"`
	Failed  *failure        `json:"summary_error"`
}

type sliceOutcome struct {
	Count         int
	Failed        string // the type
	Output        string
	Total         int
	Types         map[string]int
	First, Last   string
	SummaryFailed string
}

func (f *failure) name() string {
	if f == nil {
		return ""
	}
	return f.Type
}

func (c sliceCase) run(t *testing.T) verdict {
	return judge(c.reference(t), c.ours(t), func(f *fired) sliceOutcome { return c.model(t, f) })
}

func (c sliceCase) reference(t *testing.T) sliceOutcome {
	t.Helper()
	o := sliceOutcome{Count: c.Count, Failed: c.Error.name(), Total: c.Total, SummaryFailed: c.Failed.name()}
	if c.Output != nil {
		o.Output = c.Output.String()
	}
	if c.Summary == nil {
		return o
	}
	var text string
	require.NoError(t, json.Unmarshal(c.Summary, &text))
	var s struct {
		Types map[string]int  `json:"event_types"`
		First json.RawMessage `json:"first_timestamp"`
		Last  json.RawMessage `json:"last_timestamp"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &s))
	o.Types, o.First, o.Last = s.Types, timeText(s.First), timeText(s.Last)
	return o
}

// timeText is a time as a summary gives it.
func timeText(raw []byte) string {
	switch pyjson.KindOf(raw) {
	case pyjson.String:
		return pyjson.Text(raw)
	case pyjson.Null, pyjson.Invalid:
		return ""
	}
	return string(raw)
}

func (c sliceCase) ours(t *testing.T) sliceOutcome {
	t.Helper()
	dir := t.TempDir()
	if c.Events != nil {
		require.NoError(t, os.WriteFile(filepath.Join(dir, eventsFile), []byte(c.Events.String()), 0o600))
	}
	log, err := eventslog.Open(dir, nil)
	require.NoError(t, err)
	defer log.Close()
	sum, err := log.Summary(t.Context())
	require.NoError(t, err)
	o := sliceOutcome{Total: sum.Total, Types: sum.Types, First: sum.First, Last: sum.Last}
	cut, _, err := pytime.Parse(c.Cutoff)
	if err != nil {
		o.Failed = "ValueError"
		return o
	}
	var out bytes.Buffer
	o.Count, err = log.SliceTo(t.Context(), &out, cut, c.NewID, c.Parent)
	o.Output = out.String()
	if errors.Is(err, fs.ErrNotExist) {
		o.Failed = "FileNotFoundError"
	} else {
		require.NoError(t, err)
	}
	return o
}

// newerEventsCase is a log of the newer tools.
type newerEventsCase struct {
	SessionID   string `json:"session_id"`
	Data        *content
	MaxLines    json.RawMessage `json:"max_lines"`
	MaxBytes    int64           `json:"max_bytes"`
	IsDirectory bool            `json:"is_directory"`
	Events      string          `json:"events_json"`
	Diagnostics []struct{ Code string }
	Error       *failure
}

type newerEvent struct {
	Line      int
	Event     string
	SessionID string `json:"session_id"`
	Timestamp string
}

type newerEvents struct {
	Events      []newerEvent
	Diagnostics []string
	Failed      string
}

// unreadableFile is the diagnosis of a log that is no file.
const unreadableFile = "unreadable_file"

func (c newerEventsCase) run(t *testing.T) verdict {
	reference := newerEvents{Failed: c.Error.name()}
	if c.Error == nil {
		require.NoError(t, json.Unmarshal([]byte(c.Events), &reference.Events))
	}
	for i, e := range reference.Events {
		reference.Events[i].Timestamp = readable(e.Timestamp)
	}
	for _, d := range c.Diagnostics {
		reference.Diagnostics = append(reference.Diagnostics, d.Code)
	}
	return judge(reference, c.ours(t), func(f *fired) newerEvents {
		o := reference
		if o.Failed != "" && f.by(eventUnlimited) {
			o = c.ours(t)
		}
		if len(o.Diagnostics) > 0 && o.Diagnostics[0] != unreadableFile && f.by(eventReported) {
			o.Diagnostics = nil
		}
		if len(o.Events) == 0 {
			o.Events = reference.Events
		}
		return o
	})
}

// readable is a time as the head of an event has it.
func readable(text string) string {
	at, _, err := pytime.Parse(text)
	if err != nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// ours reads the log as far as the limits allow, which the caller watches.
func (c newerEventsCase) ours(t *testing.T) newerEvents {
	t.Helper()
	dir := filepath.Join(t.TempDir(), c.SessionID, "context-intelligence")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	switch path := filepath.Join(dir, eventsFile); {
	case c.IsDirectory:
		require.NoError(t, os.Mkdir(path, 0o700))
	case c.Data != nil:
		require.NoError(t, os.WriteFile(path, []byte(c.Data.String()), 0o600))
	}
	log, err := eventslog.Open(dir, nil)
	require.NoError(t, err)
	defer log.Close()
	limit, limited := pyjson.Int(c.MaxLines)
	o := newerEvents{Events: []newerEvent{}}
	for h, err := range log.Heads(t.Context(), eventslog.Cursor{}) {
		if err != nil {
			o.Diagnostics = []string{unreadableFile}
			break
		}
		if limited && limit > 0 && int64(h.Line) > limit || c.MaxBytes > 0 && h.Next.Offset > c.MaxBytes {
			break
		}
		e := newerEvent{Line: h.Line, Event: h.Event, SessionID: h.SessionID}
		if !h.Time.IsZero() {
			e.Timestamp = h.Time.UTC().Format(time.RFC3339Nano)
		}
		o.Events = append(o.Events, e)
	}
	return o
}
