package eventslog

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, map[string]testenv.Child{"appender": appenderChild, "reader": readerChild})
}

// encoded returns the argument of a child.
func encoded(t testing.TB, argument any) string {
	t.Helper()
	text, err := json.Marshal(argument)
	require.NoError(t, err)
	return string(text)
}
