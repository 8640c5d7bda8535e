package testenv_test

import (
	"flag"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestRunAtOnce is not parallel: it changes a flag for a moment.
func TestRunAtOnce(t *testing.T) {
	t.Setenv("EMULATOR", "")
	parallel := flag.Lookup("test.parallel").Value
	was := parallel.String()
	defer func() { require.NoError(t, parallel.Set(was)) }()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	n, err := strconv.Atoi(was)
	require.NoError(t, err)

	require.NoError(t, testenv.RunAtOnce(1))
	require.Equal(t, was, parallel.String(), "it does not take any away")
	t.Setenv("EMULATOR", "wine")
	require.NoError(t, testenv.RunAtOnce(n+3))
	require.Equal(t, was, parallel.String())
	t.Setenv("EMULATOR", "")
	require.NoError(t, testenv.RunAtOnce(n+3))
	want := n + 3
	if given {
		want = n
	}
	require.Equal(t, strconv.Itoa(want), parallel.String())
}
