package conformance

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// raised is an exception of the reference that it did not raise by itself.
const raised = "raised"

// slicing is what the exception says about a call on messages.
func (f *failure) slicing() string {
	switch {
	case f == nil:
		return succeeded
	case f.Type == "ValueError" && !strings.HasPrefix(f.Message, "Exceeds the limit"):
		return f.Message
	}
	return raised
}

// readMessages reads the messages of a JSON list as a store does.
func readMessages(t *testing.T, raw string) []sessionstore.Message {
	t.Helper()
	list := []sessionstore.Message{}
	for _, e := range elements(raw) {
		m, err := sessionstore.ParseMessage(e)
		require.NoError(t, err)
		list = append(list, m)
	}
	return list
}

// turnsCase finds turns.
type turnsCase struct {
	Messages   string `json:"messages_json"`
	Boundaries []int
	Count      int
	Real       []bool `json:"real_user"`
}

type turnsOutcome struct {
	Starts []int
	Real   []bool
}

func (c turnsCase) run(t *testing.T) verdict {
	ours := turnsOutcome{[]int{}, []bool{}}
	msgs := readMessages(t, c.Messages)
	for turn := range slice.Turns(msgs) {
		ours.Starts = append(ours.Starts, turn.Start)
	}
	for _, m := range msgs {
		ours.Real = append(ours.Real, slice.IsRealUser(m))
	}
	require.Equal(t, len(ours.Starts), slice.CountTurns(msgs))
	require.Equal(t, len(c.Boundaries), c.Count)
	return judge(turnsOutcome{c.Boundaries, c.Real}, ours, func(f *fired) turnsOutcome {
		rows, real := view{f: f}.all(canonical(c.Messages)), []bool{}
		for _, r := range rows {
			real = append(real, r.speaks)
		}
		f.forget(oddCalls)
		return turnsOutcome{starts(rows), real}
	})
}

// realCase tells people from tools.
type realCase struct {
	Message  string `json:"message_json"`
	Expected bool
}

func (c realCase) run(t *testing.T) verdict {
	ours := slice.IsRealUser(readMessages(t, "["+c.Message+"]")[0])
	return judge(c.Expected, ours, func(f *fired) bool { return view{f: f}.see(c.Message).speaks })
}

// orphansCase looks for calls without a result.
type orphansCase struct {
	Messages string  `json:"messages_json"`
	Orphans  *string `json:"orphans_sorted_json"`
	Error    *failure
}

func (c orphansCase) run(t *testing.T) verdict {
	reference := sliced{Failed: c.Error.slicing()}
	if c.Orphans != nil {
		reference.Rows = texts(elements(*c.Orphans))
	}
	ours := sliced{Rows: []string{}}
	for _, id := range slice.OrphanedToolCalls(readMessages(t, c.Messages)) {
		ours.Rows = append(ours.Rows, ascii(t, []byte(text(id))))
	}
	slices.Sort(ours.Rows)
	return judge(reference, ours, func(f *fired) sliced {
		raw := canonical(c.Messages)
		if raises(f, reference.Failed, raw) {
			return reference
		}
		ids := orphans(view{f: f}.all(raw))
		slices.Sort(ids)
		return sliced{Rows: texts(ids)}
	})
}

// sliced is a list of messages, or why there is none.
type sliced struct {
	Rows   []string
	Failed string
}

func texts[S ~string | ~[]byte](raw []S) []string {
	list := make([]string, 0, len(raw))
	for _, r := range raw {
		list = append(list, string(r))
	}
	return list
}

func slicedOf(t *testing.T, msgs []sessionstore.Message, err error) sliced {
	t.Helper()
	if err != nil {
		return sliced{Failed: err.Error()}
	}
	return sliced{Rows: texts(elements(messagesText(t, msgs)))}
}

// cutCase cuts after a turn.
type cutCase struct {
	Messages string `json:"messages_json"`
	Turn     int
	Mode     string
	Expected *string `json:"expected_json"`
	Error    *failure
	AnyOrder bool `json:"orphan_order_unspecified"`
}

func (c cutCase) run(t *testing.T) verdict {
	reference := sliced{Failed: c.Error.slicing()}
	if c.Expected != nil {
		reference.Rows = texts(elements(*c.Expected))
	}
	mode := slices.Index([]string{"complete", "remove", "error"}, c.Mode)
	if mode < 0 {
		mode = 9
	}
	msgs, err := slice.ToTurn(readMessages(t, c.Messages), c.Turn, slice.Orphans(mode))
	ours := slicedOf(t, msgs, err)
	ours.Failed = strings.ReplaceAll(ours.Failed, "'9'", "'"+c.Mode+"'")
	if c.AnyOrder {
		reference.Failed, ours.Failed = sortedIDs(reference.Failed), sortedIDs(ours.Failed)
	}
	return judge(reference, ours, func(f *fired) sliced {
		raw := canonical(c.Messages)
		if raises(f, reference.Failed, raw) {
			return reference
		}
		o := cut(raw, c.Turn, c.Mode, f)
		if c.AnyOrder {
			o.Failed = sortedIDs(o.Failed)
		}
		return o
	})
}

// sortedIDs sorts the list in an error's text.
func sortedIDs(text string) string {
	before, rest, _ := strings.Cut(text, "[")
	list, after, _ := strings.Cut(rest, "]")
	ids := strings.Split(list, ", ")
	slices.Sort(ids)
	return before + strings.Join(ids, ", ") + after
}

// summaryCase sums a turn up.
type summaryCase struct {
	Messages string `json:"messages_json"`
	Turn     int
	Max      int     `json:"max_length"`
	Expected *string `json:"expected_json"`
	Error    *failure
}

type summed struct {
	slice.TurnSummary
	Failed string
}

func (c summaryCase) run(t *testing.T) verdict {
	reference := summed{Failed: c.Error.slicing()}
	if c.Expected != nil {
		require.NoError(t, json.Unmarshal([]byte(*c.Expected), &reference.TurnSummary))
	}
	var ours summed
	var err error
	if ours.TurnSummary, err = slice.Summarize(readMessages(t, c.Messages), c.Turn, c.Max); err != nil {
		ours.Failed = err.Error()
	}
	return judge(reference, ours, func(f *fired) summed {
		raw := canonical(c.Messages)
		if raises(f, reference.Failed, raw) {
			return reference
		}
		return summary(raw, c.Turn, c.Max, f)
	})
}

// canonical are the messages of a JSON list as the vectors write them.
func canonical(list string) (raw []string) {
	for _, e := range elements(list) {
		raw = append(raw, render(string(e), pyjson.Style{ASCII: true}))
	}
	return raw
}
