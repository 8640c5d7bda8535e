package conformance

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/store/capture"
	"github.com/amplifier-go/sessionstorage/slice"
)

// associateCase ties events to messages.
type associateCase struct {
	Messages     string `json:"messages_json"`
	Events       string `json:"events_json"`
	Associations []association
	Error        *failure
}

type association struct {
	Event     int    `json:"event_index"`
	Messages  []int  `json:"message_indices"`
	Turn      *int   `json:"turn_index"`
	Method    string `json:"method"`
	Auxiliary bool
	Start     *int `json:"turn_message_index"`
}

type associations struct {
	All    []association
	Failed string
}

func (c associateCase) run(t *testing.T) verdict {
	reference := associations{c.Associations, c.Error.name()}
	ours := associations{All: []association{}}
	events := refs(c.Events)
	for i, a := range slice.Associate(readMessages(t, c.Messages), events) {
		one := association{Event: i, Messages: []int{}, Method: string(a.Method), Auxiliary: events[i].Auxiliary, Turn: index(a.Turn), Start: index(a.TurnMessage)}
		if a.Message >= 0 {
			one.Messages = []int{a.Message}
		}
		ours.All = append(ours.All, one)
	}
	return judge(reference, ours, func(f *fired) associations {
		if (hasLone(c.Messages) || hasLone(c.Events)) && f.by(surrogatesTied) {
			return ours
		}
		return reference
	})
}

func index(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

// refs are what ties normalised events to messages.
func refs(raw string) (list []eventslog.Ref) {
	for _, e := range elements(raw) {
		o := parseObject(string(e))
		r := capture.Event{Name: stringOf(o.get("event")), Data: []byte(o.get("data"))}.Ref()
		list = append(list, eventslog.Ref{
			Event: stringOf(o.get("event")), SessionID: stringOf(o.get("session_id")),
			MessageID: r.MessageID, CallID: r.CallID, Prompt: r.Prompt, Auxiliary: r.Auxiliary,
		})
	}
	return list
}
