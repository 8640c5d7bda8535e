package conformance

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/sessioncost"
	"github.com/amplifier-go/sessionstorage/slice"
)

// realUserRunner runs the cases about what people wrote.
func realUserRunner() runner {
	return byKind(map[string]runner{"message": of(promptCase.run), "turns": of(nativeTurnsCase.run)})
}

// promptCase tells prompts from other messages.
type promptCase struct {
	Message   string `json:"message_json"`
	Real      bool   `json:"real_user"`
	Anchor    bool
	Matchable bool   `json:"matchable_text"`
	Prompt    string `json:"prompt_json"`
}

type prompted struct {
	Real, Anchor, Matchable bool
	Prompt                  string
}

func (c promptCase) run(t *testing.T) verdict {
	m := readMessages(t, "["+c.Message+"]")[0]
	ours := prompted{Real: slice.IsRealUser(m), Anchor: slice.IsPrompt(m), Prompt: "null"}
	for _, turn := range sessioncost.Turns([]sessioncost.Row{sessioncost.RowOf([]byte(c.Message))}) {
		ours.Prompt = promptText(t, turn)
	}
	content, _ := m.Lookup("content")
	ours.Matchable = ours.Anchor && pyjson.KindOf(content) == pyjson.String
	reference := prompted{c.Real, c.Anchor, c.Matchable, c.Prompt}
	return judge(reference, ours, func(f *fired) prompted {
		o := reference
		o.Real = view{f: f}.see(c.Message).speaks
		return o
	})
}

// promptText is the prompt of a turn as the vectors have it.
func promptText(t *testing.T, turn sessioncost.Turn) string {
	t.Helper()
	if turn.Prompt == nil {
		return "null"
	}
	return ascii(t, turn.Prompt)
}

// nativeTurnsCase finds turns, and the prompts that they begin with.
type nativeTurnsCase struct {
	Messages    string `json:"messages_json"`
	Boundaries  []int
	Count       int
	NativeTurns []nativeTurn `json:"native_turns"`
}

type nativeTurn struct {
	Number      int
	Index       int    `json:"message_index"`
	Prompt      string `json:"prompt_json"`
	Unsupported bool
}

type nativeTurns struct {
	Starts []int
	Count  int
	Native []nativeTurn
}

func (c nativeTurnsCase) run(t *testing.T) verdict {
	msgs := readMessages(t, c.Messages)
	ours := nativeTurns{Starts: []int{}, Count: slice.CountTurns(msgs), Native: []nativeTurn{}}
	for turn := range slice.Turns(msgs) {
		ours.Starts = append(ours.Starts, turn.Start)
	}
	for i, turn := range sessioncost.Turns(rawRows(c.Messages)) {
		ours.Native = append(ours.Native, nativeTurn{i + 1, turn.Row, promptText(t, turn), turn.Anchor && turn.Prompt == nil})
	}
	return judge(nativeTurns{c.Boundaries, c.Count, c.NativeTurns}, ours, func(f *fired) nativeTurns {
		at := starts(view{f: f}.all(canonical(c.Messages)))
		f.forget(oddCalls)
		return nativeTurns{at, len(at), c.NativeTurns}
	})
}

// rawRows are the elements of a JSON list.
func rawRows(raw string) (rows []sessioncost.Row) {
	for _, e := range elements(raw) {
		rows = append(rows, sessioncost.RowOf(e))
	}
	return rows
}
