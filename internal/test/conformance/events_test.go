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

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
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
	sum := parseObject(text)
	o.Types = map[string]int{}
	require.NoError(t, json.Unmarshal([]byte(sum.get("event_types")), &o.Types))
	o.First, o.Last = timeText([]byte(sum.get("first_timestamp"))), timeText([]byte(sum.get("last_timestamp")))
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
	done, err := log.SliceTo(t.Context(), &out, cut, c.NewID, c.Parent)
	o.Count = done.Events
	o.Output = out.String()
	if errors.Is(err, fs.ErrNotExist) {
		o.Failed = "FileNotFoundError"
	} else {
		require.NoError(t, err)
	}
	return o
}
