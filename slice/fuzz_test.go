package slice_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/slice"
)

// seeds are the golden transcripts and some random ones.
func seeds(f *testing.F) (list []string) {
	list = goldenTranscripts(f)
	for seed := range uint64(20) {
		list = append(list, strings.Join(randomLines(rand.New(rand.NewPCG(seed, 9))), "\n"))
	}
	return list
}

func FuzzTurns(f *testing.F) {
	for i, s := range seeds(f) {
		f.Add(s, i%4, uint8(i))
	}
	f.Fuzz(func(t *testing.T, transcript string, turn int, mode uint8) {
		holdsToTurn(t, messagesOf(transcript), turn, slice.Orphans(mode%4))
		holdsRepair(t, messagesOf(transcript))
		holdsWindow(t, messagesOf(transcript), turn)
	})
}

// TestProperties holds every property on random conversations.
func TestProperties(t *testing.T) {
	t.Parallel()
	for seed := range testenv.Share[uint64](50, 100, 2000) {
		holdsAll(t, seed)
	}
}

func holdsAll(t *testing.T, seed uint64) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	msgs := parse(t, randomLines(rand.New(rand.NewPCG(seed, 1)))...)
	before := slices.Clone(msgs)
	holdsRepair(t, msgs)
	for turn := range slice.CountTurns(msgs) + 2 {
		for mode := range slice.Orphans(4) {
			holdsToTurn(t, msgs, turn, mode)
		}
		holdsWindow(t, msgs, turn-1)
	}
	require.Equal(t, before, msgs, "the input was changed")
}
