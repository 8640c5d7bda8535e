package segment

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// prose is text of n bytes that compresses like what people and models write.
func prose(r *rand.Rand, words []string, n int) string {
	var b strings.Builder
	for z := rand.NewZipf(r, 1.1, 8, uint64(len(words)-1)); b.Len() < n; {
		b.WriteString(words[z.Uint64()] + " ")
	}
	return b.String()[:n]
}

func vocabulary(r *rand.Rand) []string {
	words := make([]string, 4000)
	for i := range words {
		word := make([]byte, 2+r.IntN(8))
		for k := range word {
			word[k] = "etaoinshrdlcumwfgypbvk"[min(r.IntN(22), r.IntN(22))]
		}
		words[i] = string(word)
	}
	return words
}

// conversation returns turns as an agent writes them, with messages of size
// bytes of content: a question, some calls of tools with their results, an answer.
func conversation(r *rand.Rand, turns, size int) (all [][][]byte) {
	at, words := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), vocabulary(r)
	for range turns {
		var turn [][]byte
		say := func(role, more string, wait time.Duration) {
			at = at.Add(wait)
			turn = append(turn, fmt.Appendf(nil, `{"role": %q, "content": %q%s, "metadata": {"timestamp": %q}}`,
				role, prose(r, words, size), more, at.Format("2006-01-02T15:04:05.000+00:00")))
		}
		seconds := func(n int) time.Duration { return time.Duration(r.IntN(n*1000)) * time.Millisecond }
		say("user", "", seconds(600))
		for range r.IntN(4) {
			id := fmt.Sprintf("call_%08x", r.Uint32())
			say("assistant", fmt.Sprintf(`, "tool_calls": [{"id": %q, "type": "function", "function": {"name": "read_file", "arguments": "{}"}}]`, id), seconds(20))
			say("tool", fmt.Sprintf(`, "name": "read_file", "tool_call_id": %q`, id), seconds(5))
		}
		say("assistant", "", seconds(20))
		all = append(all, turn)
	}
	return all
}

// share cuts a conversation, each turn by itself or all at once, and returns the
// bytes that its documents have, and those of their indexes.
func share(t *testing.T, turns [][][]byte, each bool) (stored, index int) {
	s, from := newShelf(), start(Transcript)
	if !each {
		turns = [][][]byte{slices.Concat(turns...)}
	}
	for _, turn := range turns {
		from = s.store(t, Options{}, from, turn)
	}
	for _, d := range s.docs {
		var label map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(d.Label, &label))
		require.NotContains(t, label, "blocks")
		stored += d.Size()
		index += len(`,"idx":`) + len(label["idx"])
	}
	return stored, index
}

// TestIndexShare: an index is a small part of what is stored, however short the
// messages are.
func TestIndexShare(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100, 300, 1000, 4000} {
		turns := conversation(rand.New(rand.NewPCG(7, uint64(size))), 200, size)
		messages := len(slices.Concat(turns...))
		for each, perMessage := range map[bool]float64{true: 5, false: 2.5} {
			stored, index := share(t, turns, each)
			t.Logf("messages of %4d bytes, turn by turn %-5v: %5d bytes a turn, %.2f of the index a message, %.2f %%",
				size, each, stored/len(turns), float64(index)/float64(messages), 100*float64(index)/float64(stored))
			require.LessOrEqual(t, 100*index, 3*stored)
			require.LessOrEqual(t, float64(index)/float64(messages), perMessage)
		}
	}
}
