package accept_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
	"github.com/amplifier-go/sessionstorage/slice/internal/rowtest"
)

// TestAcceptedStaysAccepted cuts, windows and repairs conversations that a
// provider accepts.
func TestAcceptedStaysAccepted(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+testenv.Share[uint64](30, 100, 2000); seed++ {
		d := rowtest.Dealer{Rand: rand.New(rand.NewPCG(seed, 4))}
		rows := d.Rows(12)
		if seed%2 == 0 {
			rows = d.Talk(1 + d.IntN(5))
		}
		msgs := parse(t, rows...)
		for _, p := range providers {
			checkAccepted(t, seed, p, mend(t, p, msgs).Messages)
		}
	}
}

func checkAccepted(t *testing.T, seed uint64, p accept.Provider, msgs []sessionstore.Message) {
	t.Helper()
	accepted := func(what string, got []sessionstore.Message, err error) {
		require.NoError(t, err)
		if left := accept.Check(p, got); len(left) > 0 {
			require.Empty(t, left, "seed %d %v %s\n%v\n->\n%v", seed, p, what, lines(msgs), lines(got))
		}
	}
	turns := slice.CountTurns(msgs)
	for turn := 1; turn <= turns; turn++ {
		for _, mode := range []slice.Orphans{slice.Complete, slice.Remove} {
			got, err := slice.ToTurn(msgs, turn, mode)
			accepted("ToTurn", got, err)
		}
		accepted("Window", slice.Window(msgs, turn), nil)
	}
	d, err := slice.Diagnose(msgs)
	require.NoError(t, err)
	got, err := slice.Repair(msgs, d)
	accepted("Repair", got, err)
	got, err = slice.Rewind(msgs, d)
	accepted("Rewind", got, err)
}
