package archive

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, map[string]testenv.Child{"read": readForever, "carry": carry})
}

// session returns a session of lines.
func session(t *testing.T, lines ...string) *sessionstore.Session {
	t.Helper()
	s := &sessionstore.Session{ID: "s-1"}
	for _, line := range lines {
		m, err := sessionstore.ParseMessage([]byte(line))
		require.NoError(t, err)
		s.Messages = append(s.Messages, m)
	}
	md, err := sessionstore.ParseMetadata([]byte(`{"session_id": "s-1", "name": "A *name* <b>", "created": "2026-01-02T03:04:05+00:00", "bundle": "bundle:dev", "model": "unknown"}`))
	require.NoError(t, err)
	s.Metadata = md
	return s
}

// secrets replaces one word.
type secrets struct{}

func (secrets) Line(line []byte) []byte {
	return []byte(strings.ReplaceAll(string(line), "hunter2", "[redacted]"))
}

func show(t *testing.T, s *sessionstore.Session, o WriteOptions) string {
	t.Helper()
	d, err := newDocument(t.Context(), s, nil, &o)
	require.NoError(t, err)
	var out strings.Builder
	if o.Format == HTML {
		require.NoError(t, d.html(t.Context(), &out))
	} else {
		require.NoError(t, d.markdown(t.Context(), &out))
	}
	return out.String()
}
