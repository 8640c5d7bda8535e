package postgres

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

func TestAddressWithPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://ada:hunter2@example.com/db", "postgresql://example.com/db?password=hunter2", "postgres://ada:@example.com/db", "postgres://ada@example.com/db?sslpassword=hunter2",
		"postgres://ada%3Ahunter2@example.com/db", "postgres://example.com/db?user=ada:hunter2", "postgres://example.com/db?user=ada%3ahunter2",
		"postgres://ada@example.com/db?Password=hunter2", "postgres://ada@example.com/db?PASSWORD=hunter2", "postgres://ada@example.com/db?passwd=hunter2",
		"postgres://ada@example.com/db?pass%77ord=hunter2", "postgres://ada@example.com/db?password%3Dhunter2", "postgres://ada@example.com/db&password=hunter2",
		"postgres://ada@example.com/db?options=-c%20password%3Dhunter2", "Postgres://ada:hunter2@example.com/db", "postgres://ada@example.com/db?sslmode=require;password=hunter2",
	} {
		_, err := Connect(address)
		require.ErrorIs(t, err, remote.ErrBlocked, address)
		require.ErrorContains(t, err, "PGPASSWORD")
		require.NotContains(t, err.Error(), "hunter2")
	}
	r, err := Connect("postgres://ada@example.com/db?passfile=/home/ada/.pgpass")
	require.NoError(t, err)
	require.NoError(t, r.Close())
}

func TestBadAddress(t *testing.T) {
	t.Parallel()
	_, err := Connect("postgres://ada:hunter%2@example.com")
	require.ErrorContains(t, err, "PGPASSWORD")
	for _, address := range []string{"", "example.com", "host=example.com password=hunter2", "http://example.com", "postgres://ada:hunter2@exa mple", "postgres://example.com/db?sslmode=hunter2", "postgres://example.com:hunter2/db", "postgres://ada@example.com/db?sslmode=require;x=hunter2"} {
		_, err := Connect(address)
		require.Error(t, err, address)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

// TestEncrypted: a host that is not this machine must prove its name, unless the address
// says otherwise.
func TestEncrypted(t *testing.T) {
	t.Parallel()
	for address, verified := range map[string]bool{
		"postgres://ada@db.example.com/db":                  true,
		"postgres://ada@db.example.com/db?schema=x":         true,
		"postgres://ada@192.0.2.1/db":                       true,
		"postgres://ada@localhost/db":                       false,
		"postgres://ada@127.0.0.1/db":                       false,
		"postgres://ada@/db?host=/run/postgresql":           false,
		"postgres://ada@db.example.com/db?sslmode=disable":  false,
		"postgres://ada@a.example.com,b.example.com:1234/x": true,
		"postgres://ada@localhost,db.example.com/db":        true,
	} {
		config, _, err := parse(address)
		require.NoError(t, err, address)
		all := []*tls.Config{config.ConnConfig.TLSConfig}
		for _, f := range config.ConnConfig.Fallbacks {
			all = append(all, f.TLSConfig)
		}
		for _, c := range all {
			require.Equal(t, verified, c != nil && !c.InsecureSkipVerify && c.ServerName != "", address)
		}
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, address := range []string{"postgres://a@x.example/d", "postgres://a@x.example/e", "postgres://a@y.example/d", "postgres://a@x.example:1/d", "postgres://a@x.example/d?schema=s", "postgres://a@x.example,y.example/d", "postgres://a@xy.example,y.example/d", "postgres://a@xy.example/d", "postgres://a@x.example", "postgres://b@x.example"} {
		r, err := Connect(address)
		require.NoError(t, err)
		info, err := r.Info(t.Context())
		require.NoError(t, err)
		require.Empty(t, seen[info.Identity], info.Identity)
		seen[info.Identity] = address
		require.NoError(t, r.Close())
	}
	same, err := Connect("postgresql://other@x.example:5432/d?sslmode=require")
	require.NoError(t, err)
	defer func() { require.NoError(t, same.Close()) }()
	info, err := same.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "postgres://a@x.example/d", seen[info.Identity])
}

// TestSchemaName: another name of the schema is quoted.
func TestSchemaName(t *testing.T) {
	t.Parallel()
	require.Equal(t, Schema(""), Schema(DefaultSchema))
	text := Schema(`odd"; DROP TABLE x; --`)
	require.Contains(t, text, `CREATE SCHEMA IF NOT EXISTS "odd""; DROP TABLE x; --";`)
	require.NotContains(t, text, DefaultSchema)
	require.Equal(t, strings.Count(Schema(""), "\n"), strings.Count(text, "\n"))
}

// TestOddSchema: a name that would end a comment of the schema is refused.
func TestOddSchema(t *testing.T) {
	t.Parallel()
	_, err := Connect("postgres://ada@example.com/db?schema=a%0ADROP")
	require.ErrorContains(t, err, "control character")
}
