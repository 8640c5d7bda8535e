package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// TestShowsLate has a transaction that stores an object, and ends after others that began
// later were seen. The list since the time that the remote gave before has the object.
func TestShowsLate(t *testing.T) {
	t.Parallel()
	s := own(t) // other transactions would change the time
	database := s.provisioned(t)
	r := connect(t, s.address("admin", database))
	commit(t, r, "", "one")
	c, err := pgx.Connect(t.Context(), s.address("admin", database))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(t.Context())) }()
	late, err := c.Begin(t.Context())
	require.NoError(t, err)
	_, err = late.Exec(t.Context(), `INSERT INTO sessionstorage.objects (part, name, label, body, version, tx, begun, stored) SELECT 'p-1', 'late', '{}', '', 'x', `+stamps)
	require.NoError(t, err)

	_, err = r.Commit(t.Context(), part, []remote.Object{{Name: "beside", Label: []byte(`{}`)}}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"beside", "head"}, list(t, r, remote.Query{}))
	info, err := r.Info(t.Context())
	require.NoError(t, err)
	require.NoError(t, late.Commit(t.Context()))
	require.Contains(t, list(t, r, remote.Query{Since: info.Complete}), "late")

	// When nothing is under way, the time is now.
	before := time.Now()
	list(t, r, remote.Query{})
	info, err = r.Info(t.Context())
	require.NoError(t, err)
	require.False(t, info.Complete.Before(before.Truncate(time.Microsecond)), "%v, %v", info.Complete, before)
}

// TestCompleteNeverGoesBack: a transaction that begins takes nothing from what lists have.
func TestCompleteNeverGoesBack(t *testing.T) {
	t.Parallel()
	s := own(t)
	database := s.provisioned(t)
	r := connect(t, s.address("admin", database))
	commit(t, r, "", "one")
	list(t, r, remote.Query{})
	one, err := r.Info(t.Context())
	require.NoError(t, err)
	c, err := pgx.Connect(t.Context(), s.address("admin", database))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(t.Context())) }()
	_, err = c.Exec(t.Context(), `BEGIN; SELECT pg_current_xact_id()`, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	list(t, r, remote.Query{})
	two, err := r.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, one.Complete, two.Complete)
	require.True(t, two.Time.After(one.Time))
}
