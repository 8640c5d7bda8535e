package testenv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// work is a child that does operations, as many as the argument says, or for ever.
func work(_, argument string) error {
	for n, point := 1, KillPoint(); fmt.Sprint(n) != argument; n++ {
		fmt.Println("begin", n)
		if err := point.Before(seam.Op{}); err != nil {
			return err
		}
		fmt.Println("end", n)
	}
	return errors.New("came to its end")
}

func TestVictimDiesAtAnOperation(t *testing.T) {
	t.Setenv("TEST_LONG", "")
	died := func(seed uint64) (list []string) {
		r := rand.New(rand.NewPCG(seed, 0))
		for round := range 6 {
			last := ""
			Victim{Name: "work", Rounds: 6, Operations: 9, First: 20, Within: time.Hour}.Kill(t, round, r, func(line string) { last = line })
			var at int
			_, err := fmt.Sscanf(last, "begin %d", &at)
			require.NoError(t, err, last)
			if round == 5 {
				at -= 20
			}
			require.True(t, 1 <= at && at <= 9, last)
			list = append(list, last)
		}
		return list
	}
	first := died(1)
	require.Equal(t, first, died(1))
	require.NotEqual(t, first, died(2))
}

func TestVictimDiesAfterATime(t *testing.T) {
	t.Setenv("TEST_LONG", "1")
	least := map[int]int{0: 10, 2: 1}
	if testing.Short() { // which kills at operations alone
		clear(least)
	}
	ends := func(line string) bool { return strings.HasPrefix(line, "end 5") }
	for _, round := range []int{0, 2} {
		lines := 0
		v := Victim{Name: "work", Operations: 1, Within: 1, Acknowledges: ends}
		v.Kill(t, round, rand.New(rand.NewPCG(1, 1)), func(string) { lines++ })
		require.GreaterOrEqual(t, lines, least[round])
	}
}

func TestVictimThatEndsByItself(t *testing.T) {
	t.Setenv("TEST_LONG", "")
	said := &errorf{TB: t}
	Victim{Name: "work", Argument: "1", Operations: 9, Within: 1}.Kill(said, 1, rand.New(rand.NewPCG(1, 1)), func(string) {})
	require.Equal(t, "round 1: the child ended by itself: came to its end\n", said.text)
}

// errorf is a test that notes its errors.
type errorf struct {
	testing.TB
	text string
}

func (e *errorf) Errorf(format string, args ...any) { e.text += fmt.Sprintf(format, args...) }
