package postgres

import (
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// TestCertificate is a server whose certificate does not prove its name.
func TestCertificate(t *testing.T) {
	t.Parallel()
	s := own(t)
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	is := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "db"}, DNSNames: []string{"db.example"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	cert, err := x509.CreateCertificate(nil, &is, &is, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	files := map[string][]byte{"server.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), "server.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})}
	for name, text := range files {
		path := filepath.Join(s.dir, "data", name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		if s.as != nil {
			require.NoError(t, os.Chown(path, int(s.as.Uid), int(s.as.Gid)))
		}
	}
	s.stop()
	s.args = append(s.args, "-c", "ssl=on")
	require.NoError(t, s.start())
	r := connect(t, s.address("admin", "postgres")+"?sslmode=verify-full&sslrootcert="+filepath.Join(s.dir, "data", "server.crt"))
	_, err = r.Get(t.Context(), part, "head", "")
	require.ErrorContains(t, err, "the server's certificate is not accepted: x509: ")
	require.ErrorContains(t, err, "127.0.0.1")
	r = connect(t, s.address("admin", "postgres")+"?sslmode=verify-full")
	_, err = r.Get(t.Context(), part, "head", "")
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.ErrorContains(t, err, "the server's certificate is not accepted: x509: ")
}

// TestReadOnlyDatabase is a database that takes no writes: it answers, and the error says so.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	s := running(t)
	name := s.provisioned(t)
	s.do(t, "postgres", `ALTER DATABASE `+name+` SET default_transaction_read_only = on`)
	_, err := connect(t, s.address("admin", name)).Commit(t.Context(), part, nil, head("", "one"))
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.ErrorContains(t, err, "read-only")
	require.NotContains(t, err.Error(), "cannot be reached")
}

// TestEncodingWithoutConversion is a database whose encoding the server cannot convert.
func TestEncodingWithoutConversion(t *testing.T) {
	t.Parallel()
	s := running(t)
	name := fmt.Sprint("test_", databases.Add(1))
	s.do(t, "postgres", `CREATE DATABASE `+name+` TEMPLATE template0 ENCODING 'MULE_INTERNAL' LC_COLLATE 'C' LC_CTYPE 'C'`)
	_, err := connect(t, s.address("admin", name)).Get(t.Context(), part, "head", "")
	for _, err := range []error{Provision(t.Context(), s.address("admin", name)), err} {
		require.ErrorIs(t, err, remote.ErrBlocked)
		require.ErrorContains(t, err, "MULE_INTERNAL")
	}
}

// TestNoConnection: the error of a server that takes no connection says why.
func TestNoConnection(t *testing.T) {
	t.Parallel()
	for address, why := range map[string]string{"postgres://x@127.0.0.1:1/d": "refused", "postgres://x@/d?host=/nowhere": "no such file"} {
		_, err := connect(t, address).Get(t.Context(), part, "head", "")
		require.ErrorContains(t, err, "the remote cannot be reached: no connection to the database: ")
		require.ErrorContains(t, err, why)
		require.NotContains(t, err.Error(), "x@")
	}
}
