package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// TestOutcome: whether a swap was made is unknown after an error with which the server ends.
// One that cannot write its log to the disk finds the commit there when it starts again.
func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		severity, code string
		unknown, away  bool
	}{
		{"ERROR", "40001", false, true},
		{"ERROR", "53100", false, false},
		{"ERROR", "57014", false, true},
		{"ERROR", "58030", false, true},
		{"FATAL", "57P01", true, true},
		{"PANIC", "53100", true, false},
		{"PANIC", "58030", true, true},
		{"PANIC", "XX000", true, true},
		{"FATAL", "XX000", true, true},
		{"ERROR", "XX000", false, false},
		{"FATAL", "28000", true, false},
	} {
		err := &pgconn.PgError{Severity: "of a language", SeverityUnlocalized: c.severity, Code: c.code, Message: "text"}
		require.Equal(t, c.unknown, errors.Is(reason(err, true), remote.ErrUnknown), c)
		require.NotErrorIs(t, reason(err, false), remote.ErrUnknown)
		require.Equal(t, c.away, errors.Is(reason(err, false), remote.ErrUnreachable), c)
	}
}
