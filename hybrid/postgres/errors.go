package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// serverError is an error of the server, without its detail, which may quote a row.
type serverError struct{ code, text string }

func (e *serverError) Error() string { return fmt.Sprintf("SQLSTATE %s: %s", e.code, e.text) }

// unsent returns the error of a statement that was not sent, since there is no connection.
func unsent(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) { // the server answers
		return reason(e, false)
	}
	why := errors.New("no connection to the database") // whose address may be told, and nothing else of err
	if cert, network := (*tls.CertificateVerificationError)(nil), (*net.OpError)(nil); errors.As(err, &cert) {
		why = fmt.Errorf("the server's certificate is not accepted: %w", cert.Err)
	} else if errors.As(err, &network) {
		why = fmt.Errorf("%w: %w", why, network)
	}
	return &remote.Unreachable{Err: why, Kind: remote.Away}
}

// reason returns the error of package remote for the outcome of a statement.
func reason(err error, swapping bool) error {
	e := (*pgconn.PgError)(nil)
	if !errors.As(err, &e) {
		if pgconn.SafeToRetry(err) {
			return &remote.Unreachable{Err: errors.New("the connection had ended"), Kind: remote.Stale}
		}
		var out error = &remote.Unreachable{Err: errors.New("the connection ended before the answer")}
		if swapping {
			out = fmt.Errorf("%w: %w", remote.ErrUnknown, out)
		}
		return out
	}
	out, class := meaning(e), e.Code[:min(2, len(e.Code))]
	// An error ends the transaction before its commit. But a server that shuts down may send
	// one while the commit waits for a standby, and one that cannot write its log to the disk
	// finds the commit there perhaps when it starts again.
	if swapping && (ends(e) || class == "08" || class == "57" && e.Code != "57014") {
		out = fmt.Errorf("%w: %w", remote.ErrUnknown, out)
	}
	return out
}

// ends reports whether the server, or its process for the connection, ends with an error.
func ends(e *pgconn.PgError) bool {
	return slices.Contains([]string{"FATAL", "PANIC"}, cmp.Or(e.SeverityUnlocalized, e.Severity))
}

// meaning returns the error of package remote for an error of the server.
func meaning(e *pgconn.PgError) error {
	said := &serverError{e.Code, e.Message}
	if len(e.Code) != 5 {
		said.code = "unknown"
	}
	switch class := e.Code[:min(2, len(e.Code))]; {
	case e.Code == "42501":
		return fmt.Errorf("%w: %w", remote.ErrUnauthorized, said)
	case e.Code == "42P01":
		return fmt.Errorf("%w: %w: make the table by Provision or by schema.sql", remote.ErrBlocked, said)
	case slices.Contains([]string{"0A", "28", "3D", "3F"}, class), e.Code == "53100":
		return fmt.Errorf("%w: %w", remote.ErrBlocked, said)
	case e.Code == "53300":
		return &remote.Unreachable{Err: said, Kind: remote.Throttled}
	case class == "54":
		return fmt.Errorf("%w: %w", remote.ErrTooLarge, said)
	case slices.Contains([]string{"08", "40", "53", "55", "57", "58"}, class), e.Code == readOnly, class == "XX" && ends(e):
		return &remote.Unreachable{Err: said}
	}
	said.text = "the server refuses the statement" // its text may quote a value
	return fmt.Errorf("%w: %w", remote.ErrRefused, said)
}
