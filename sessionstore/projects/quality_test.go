package projects_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// kinds are the kinds of questions: who said the answer in which words, and what was true before.
var kinds = []struct {
	name, role, word, answer, before string
	sought                           sessionstore.Sought
}{
	{"a name", "user", "service-%d", "belongs to Marta %d", "", sessionstore.Sought{}},
	{"a date", "user", "release-%d", "is due on 2026-03-12 at %d", "", sessionstore.Sought{}},
	{"a fact that changed", "user", "the port of host-%d", "is now 8%d", "is 7%d", sessionstore.Sought{}},
	{"what the model said", "assistant", "bug-%d", "is a race in line %d", "", sessionstore.Sought{Role: "assistant"}},
	{"what a call printed", "tool", "test-%d", "failed after %d ms", "", sessionstore.Sought{Role: "tool"}},
}

// question is a word to search for, and the text that the message with the answer has.
type question struct {
	kind, word, answer string
	sought             sessionstore.Sought
}

// recalled are how many of 20 questions of each kind have the answer among the first 1, 5
// and 10 hits, as the ranking was when this was written: the session created last comes first.
var recalled = map[string][3]int{
	"a name":              {7, 15, 18},
	"a date":              {3, 11, 18},
	"a fact that changed": {5, 16, 18},
	"what the model said": {3, 13, 17},
	"what a call printed": {8, 17, 20},
}

// TestRecall asks seeded questions about made-up conversations. A change of the ranking may
// make no kind of question worse; where it makes one better, the table is to say so.
func TestRecall(t *testing.T) {
	t.Parallel()
	p, questions := conversations(t)
	got := map[string][3]int{}
	for _, q := range questions {
		q.sought.Text, q.sought.Each = q.word, 1
		hits, failed := searched(t.Context(), p, q.sought, projects.Query{})
		require.Empty(t, failed)
		for rank, h := range hits {
			if !strings.Contains(h.Before+h.Text+h.After, q.answer) {
				continue
			}
			sum := got[q.kind]
			for i, most := range []int{1, 5, 10} {
				if rank < most {
					sum[i]++
				}
			}
			got[q.kind] = sum
			break
		}
	}
	for kind, was := range recalled {
		for i, most := range []int{1, 5, 10} {
			require.GreaterOrEqual(t, got[kind][i], was[i], "%s, among %d: %v", kind, most, got)
		}
	}
	require.Equal(t, recalled, got, "it is better: write that into the table")
}

// conversations makes 200 sessions of some turns each, in which the answers stand among other
// messages about the same things, and returns them with the questions.
func conversations(t *testing.T) (*projects.Projects, []question) {
	rnd := rand.New(rand.NewPCG(66, 0)) // the table is for these conversations
	dir, rows := t.TempDir(), make([][]string, 200)
	say := func(session int, role, text string) {
		row := map[string]any{"role": role, "content": text}
		if role == "tool" {
			row["tool_call_id"] = "1"
		}
		line, err := json.Marshal(row)
		require.NoError(t, err)
		rows[session] = append(rows[session], string(line))
	}
	var questions []question
	for _, kind := range kinds {
		for i := range 20 {
			word, answer := fmt.Sprintf(kind.word, i), fmt.Sprintf(kind.answer, rnd.IntN(900)+100)
			at := rnd.IntN(len(rows))
			for range rnd.IntN(16) { // others speak of it, too
				say(rnd.IntN(len(rows)), []string{"user", "assistant", kind.role}[rnd.IntN(3)], "Once more about "+word+", please.")
			}
			if kind.before != "" {
				say(rnd.IntN(at+1), kind.role, word+" "+fmt.Sprintf(kind.before, rnd.IntN(900)+100))
			}
			say(at, kind.role, word+" "+answer)
			questions = append(questions, question{kind.name, word, answer, kind.sought})
		}
	}
	for session := range rows {
		at := time.Date(2026, 1, 1, 0, session, 0, 0, time.UTC).Format(time.RFC3339)
		write(t, fmt.Sprintf(`{"created": %q}`, at), dir, "p", "sessions", fmt.Sprint(session), metadataFile)
		write(t, strings.Join(rows[session], "\n")+"\n", dir, "p", "sessions", fmt.Sprint(session), transcriptFile)
	}
	return openProjects(t, dir), questions
}
