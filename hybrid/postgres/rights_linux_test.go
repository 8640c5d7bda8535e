package postgres

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

const part = "p-1"

func commit(t *testing.T, r *Remote, was remote.Version, text string, others ...string) remote.Version {
	t.Helper()
	var objects []remote.Object
	for _, name := range others {
		objects = append(objects, remote.Object{Name: name, Label: []byte(`{}`), Body: []byte(name)})
	}
	v, err := r.Commit(t.Context(), part, objects, head(was, text))
	require.NoError(t, err)
	return v
}

func head(was remote.Version, text string) *remote.Swap {
	return &remote.Swap{Object: remote.Object{Name: "head", Label: []byte(`{}`), Body: []byte(text)}, If: was}
}

// list returns the names of the part's objects since the remote's time of a former list.
func list(t *testing.T, r *Remote, q remote.Query) (names []string) {
	t.Helper()
	for o, err := range r.List(t.Context(), part, q) {
		require.NoError(t, err)
		names = append(names, o.Name)
	}
	return names
}

// role makes a role with rights, which the file schema.sql describes, and connects as it.
func role(t *testing.T, s *server, database, rights string) *Remote {
	t.Helper()
	name := fmt.Sprint("role_", databases.Add(1))
	s.do(t, database, fmt.Sprintf("CREATE ROLE %[1]s LOGIN; GRANT USAGE ON SCHEMA sessionstorage TO %[1]s; GRANT %[2]s ON sessionstorage.objects TO %[1]s", name, rights))
	return connect(t, s.address(name, database))
}

// TestRights: the rights that schema.sql names are enough, and a role that may only read
// fetches.
func TestRights(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	device := role(t, s, database, "SELECT, INSERT, UPDATE, DELETE")
	v := commit(t, device, commit(t, device, "", "one", "a", "b"), "two", "a")
	require.NoError(t, device.Delete(t.Context(), part, []string{"b"}))
	reader := role(t, s, database, "SELECT")
	require.Equal(t, []string{"a", "head"}, list(t, reader, remote.Query{}))
	o, err := reader.Get(t.Context(), part, "head", "")
	require.NoError(t, err)
	require.Equal(t, []string{"two", string(v)}, []string{string(o.Body), string(o.Version)})
	_, err = reader.Commit(t.Context(), part, nil, head(v, "three"))
	require.ErrorIs(t, err, remote.ErrUnauthorized)
	require.NotErrorIs(t, err, remote.ErrUnknown)
	require.ErrorIs(t, reader.Delete(t.Context(), part, []string{"a"}), remote.ErrUnauthorized)
	require.Equal(t, []string{"a", "head"}, list(t, device, remote.Query{}))
	require.Error(t, Provision(t.Context(), s.address(role(t, s, database, "SELECT").pool.Config().ConnConfig.User, database)+"?schema=own"))
}

// TestNothingThere is asked for what is not there, or may not be seen.
func TestNothingThere(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	for address, want := range map[string]string{
		s.address("admin", "none"):                    "3D000",
		s.address("nobody_at_all", database):          "28000",
		s.address("admin", database) + "?schema=none": "Provision",
	} {
		r := connect(t, address)
		_, err := r.Get(t.Context(), part, "head", "")
		require.ErrorIs(t, err, remote.ErrBlocked, address)
		require.ErrorContains(t, err, want)
		_, err = r.Commit(t.Context(), part, nil, head("", "one"))
		require.ErrorIs(t, err, remote.ErrBlocked, address)
		require.NotErrorIs(t, err, remote.ErrUnknown)
	}
}

// TestRowSecurity: two users of one table do not see each other's sessions.
func TestRowSecurity(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	s.do(t, database, `ALTER TABLE sessionstorage.objects ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON sessionstorage.objects USING (owner = current_user)`)
	ada, ben := role(t, s, database, "SELECT, INSERT, UPDATE, DELETE"), role(t, s, database, "SELECT, INSERT, UPDATE, DELETE")
	v := commit(t, ada, "", "ada", "a")
	require.Empty(t, list(t, ben, remote.Query{}))
	_, err := ben.Get(t.Context(), part, "head", "")
	require.ErrorIs(t, err, remote.ErrNotExist)
	_, err = ben.Commit(t.Context(), part, nil, head(v, "ben"))
	require.ErrorIs(t, err, remote.ErrChanged)
	require.NoError(t, ben.Delete(t.Context(), part, []string{"a", "head"}))
	commit(t, ada, v, "ada again")
	require.Equal(t, []string{"a", "head"}, list(t, ada, remote.Query{}))
}

// TestProvisionAgain changes nothing, also when several do it at once.
func TestProvisionAgain(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	address := s.address("admin", database)
	commit(t, connect(t, address), "", "one")
	errs := make(chan error)
	for i := range 6 {
		go func() { errs <- Provision(t.Context(), fmt.Sprintf("%s?schema=s%d", address, i%2)) }()
	}
	for range 6 {
		require.NoError(t, <-errs)
	}
	require.NoError(t, Provision(t.Context(), address))
	require.Equal(t, []string{"head"}, list(t, connect(t, address), remote.Query{}))
}
