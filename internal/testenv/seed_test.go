package testenv_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

// logged is a test that notes what it logs.
type logged struct {
	testing.TB
	text string
}

func (l *logged) Helper() {}

func (l *logged) Logf(format string, args ...any) { l.text += fmt.Sprintf(format, args...) }

func TestSeed(t *testing.T) {
	t.Setenv("TEST_SEED", "")
	log := &logged{TB: t}
	first := testenv.Seed(log)
	require.Equal(t, fmt.Sprint("TEST_SEED=", first), log.text)
	changed := false
	for range 100 {
		changed = changed || testenv.Seed(t) != first
	}
	require.True(t, changed)

	t.Setenv("TEST_SEED", fmt.Sprint(first))
	require.Equal(t, first, testenv.Seed(t))
	require.Equal(t, testenv.Rand(t).Uint64(), testenv.Rand(t).Uint64())
	require.Equal(t, "failed: TEST_SEED: strconv.ParseUint: parsing \"x\": invalid syntax", outcome(t, func(tb testing.TB) {
		t.Setenv("TEST_SEED", "x")
		testenv.Seed(tb)
	}))
}
