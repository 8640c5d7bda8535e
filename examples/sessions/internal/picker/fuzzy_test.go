package picker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScore(t *testing.T) {
	t.Parallel()
	for _, better := range []struct{ word, text, than string }{
		{"pool", "connection pool", "carpooling"},
		{"pool", "carpooling", "p-o-o-l"},
		{"cpool", "connection pool: cpool", "c pool"},
		{"wr", "weather report", "answer"},
		{"日語", "日語", "日本語"},
	} {
		require.Greater(t, score(better.word, better.text), score(better.word, better.than), "%+v", better)
	}
	require.Positive(t, score("", "x"))
	require.Positive(t, score("cnpl", "connpool"))
	require.Zero(t, score("pool", "loop"))
	require.Zero(t, score("pool", ""))
	require.Zero(t, score("ab", "a stretch to b"), "the letters are too far apart")
	require.Positive(t, score("ab", "a stretch to a b"), "a later place fits")
}

func TestMatches(t *testing.T) {
	t.Parallel()
	s := Session{Title: "Weather report", Prompt: "what about Lisbon", Dir: "/home/ada/forecast", Model: "gpt-5.2"}
	s.prepare()
	for _, words := range [][]string{{}, {"weather"}, {"lisbon"}, {"forecast"}, {"gpt"}, {"gpt", "lisbon", "wthr"}} {
		require.Positive(t, s.matches(words), "%q", words)
	}
	require.Zero(t, s.matches([]string{"gpt", "berlin"}))
	accented := Session{Title: "Zürich, café", Prompt: "Cafe\u0301"}
	accented.prepare()
	for _, query := range []string{"zur", "Zür", "zu\u0308r", "CAFE", "café"} {
		require.Positive(t, accented.matches([]string{folded(query)}), query)
	}
	other := Session{Prompt: "weather"}
	other.prepare()
	require.Greater(t, s.matches([]string{"weather"}), other.matches([]string{"weather"}), "a title counts more than a prompt")
	inside := Session{Title: "Carpooling", Dir: "/carpool/bill"}
	inside.prepare()
	word := Session{Prompt: "Since Monday the second pool is full"}
	word.prepare()
	require.Greater(t, word.matches([]string{"pool"}), inside.matches([]string{"pool"}), "a word counts more than a part of one, wherever it stands")
	id := Session{Key: Key{"p", "deadbeef-1"}}
	id.prepare()
	require.Greater(t, id.matches([]string{"deadb"}), looseScore+boundaryScore+fieldBonus[0])
}
