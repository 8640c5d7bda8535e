package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// DefaultSchema is the name of the schema whose table holds the objects, where an address
// names none.
const DefaultSchema = "sessionstorage"

// Remote is a table of a database. Its methods may be called by many goroutines.
type Remote struct {
	pool     *pgxpool.Pool
	schema   string
	table    string // its quoted name
	identity string

	mu       sync.Mutex // guards the fields below
	time     time.Time  // of the newest answer
	complete time.Time  // a later snapshot has all that was stored before it
}

// connectTime is the longest time to connect: the pool goes on with that after its caller.
const connectTime = 30 * time.Second

// maxConns is the largest number of connections of a Remote.
const maxConns = 4

// Connect returns the remote for an address, as postgres://user@host:5432/database, and
// makes no request. A parameter schema names the schema, [DefaultSchema] otherwise. All
// other parameters, variables of the environment and files are those of libpq; but where no
// sslmode is given, a host that is not this machine must prove its name, as by
// sslmode=verify-full. The error Is [remote.ErrBlocked] for an address that holds a
// password: that belongs to PGPASSWORD or to the file ~/.pgpass.
func Connect(address string) (*Remote, error) {
	config, schema, err := parse(address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return moving(ctx, c), nil
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config) // it dials when it is used
	if err != nil {
		return nil, fmt.Errorf("connect: %w", reason(err, false))
	}
	c := config.ConnConfig
	at := []string{net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))}
	for _, f := range c.Fallbacks {
		if next := net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port))); !slices.Contains(at, next) {
			at = append(at, next)
		}
	}
	return &Remote{
		pool:     pool,
		schema:   schema,
		table:    pgx.Identifier{schema, "objects"}.Sanitize(),
		identity: fmt.Sprintf("postgres %s/%s/%s", strings.Join(at, ","), cmp.Or(c.Database, c.User), schema),
	}, nil
}

// passwords matches what names a password, wherever in an address it is: password, passwd,
// sslpassword, and not passfile.
var passwords = regexp.MustCompile(`(?i)pass(word|wd)?\s*=`)

// parse reads an address.
func parse(address string) (*pgxpool.Config, string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, "", errors.New("the address is none of the form postgres://user@host/database, without a password: put that into PGPASSWORD or ~/.pgpass")
	}
	q, err := url.ParseQuery(u.RawQuery)
	plain, bad := url.PathUnescape(address)
	switch _, secret := u.User.Password(); {
	case secret, passwords.MatchString(plain), strings.Contains(u.User.Username()+q.Get("user"), ":"):
		return nil, "", fmt.Errorf("%w: the address holds a password: put it into PGPASSWORD or ~/.pgpass", remote.ErrBlocked)
	case err != nil, bad != nil: // u.Query leaves out what it does not understand
		return nil, "", errors.New("the parameters of the address are no query of a URL")
	}
	schema := q.Get("schema")
	if schema == "" {
		schema = DefaultSchema
	}
	if strings.ContainsFunc(schema, unicode.IsControl) {
		return nil, "", errors.New("the address names a schema with a control character")
	}
	q.Del("schema")
	u.RawQuery = q.Encode()
	config, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, "", errors.New("the address, or a variable or file of PostgreSQL's clients, has a setting that is not understood")
	}
	if !q.Has("sslmode") && unproven(config.ConnConfig) {
		q.Set("sslmode", "verify-full")
		u.RawQuery = q.Encode()
		if config, err = pgxpool.ParseConfig(u.String()); err != nil {
			return nil, "", errors.New("the address has a setting that is not understood")
		}
	}
	config.MaxConns, config.MinConns, config.MaxConnIdleTime, config.PingTimeout = maxConns, 0, time.Minute, 10*time.Second
	if t := &config.ConnConfig.ConnectTimeout; *t == 0 || *t > connectTime {
		*t = connectTime
	}
	config.ConnConfig.RuntimeParams["client_encoding"] = "UTF8" // whatever the encoding of the database
	config.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: time.Second}
	}
	return config, schema, nil
}

// unproven reports whether a host that is not this machine need not prove its name.
func unproven(c *pgx.ConnConfig) bool {
	may := func(host string, c *tls.Config) bool { return !local(host) && (c == nil || c.InsecureSkipVerify) }
	return may(c.Host, c.TLSConfig) || slices.ContainsFunc(c.Fallbacks, func(f *pgconn.FallbackConfig) bool { return may(f.Host, f.TLSConfig) })
}

// local reports whether a host is this machine.
func local(host string) bool {
	return path.IsAbs(host) || strings.HasPrefix(host, "@") || host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Close waits for calls under way and closes the connections. No method may be called
// after it.
func (r *Remote) Close() error {
	r.pool.Close()
	return nil
}

// batch bounds a statement that stores objects.
var batch = remote.Batch{Objects: 1000, Bytes: 16 << 20}

// Info implements [remote.Remote]. It makes no request.
func (r *Remote) Info(context.Context) (remote.Info, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return remote.Info{Identity: r.identity, Time: r.time, Batch: batch, Complete: r.complete}, nil
}

// note records the times of an answer; complete is the zero time where it has none. What
// one snapshot has, each later one has too, so the time for which lists are complete goes
// back only with the server's clock.
func (r *Remote) note(now, complete time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.time = now
	if complete.After(r.complete) || !complete.IsZero() && now.Before(r.complete) {
		r.complete = complete
	}
}

// times are the expressions for the time of the statement, and for the time before which
// no other transaction can store, in microseconds; see the package's documentation. The
// snapshot of a statement is never older than now(). Where the statement's transaction has
// the first number that no ended transaction has, no other transaction is under way.
func (r *Remote) times() string {
	return microseconds("now()") + `, (SELECT ` + microseconds(`CASE
		WHEN NOT pg_is_in_recovery() AND pg_snapshot_xmin(s) = pg_snapshot_xmax(s) AND pg_current_xact_id() = pg_snapshot_xmax(s) THEN now()
		ELSE coalesce((SELECT least(begun, now()) FROM `+r.table+` WHERE tx < pg_snapshot_xmin(s) ORDER BY tx DESC LIMIT 1), 'epoch')
	END`) + ` FROM pg_current_snapshot() s)`
}

func microseconds(of string) string {
	return `(extract(epoch FROM ` + of + `) * 1000000)::bigint::text`
}

// durable is an expression that makes the statement's commit durable.
const durable = `(SELECT CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END)`

// statement is a statement and its parameters.
type statement struct {
	text   strings.Builder
	values [][]byte
	types  []uint32
}

// text adds a parameter of type text, and returns its name.
func (s *statement) param(value string) string { return s.add([]byte(value), pgtype.TextOID) }

// bytes adds a parameter of type bytea, and returns its name.
func (s *statement) bytes(value []byte) string {
	if value == nil {
		value = []byte{} // nil is NULL
	}
	return s.add(value, pgtype.ByteaOID)
}

func (s *statement) add(value []byte, oid uint32) string {
	s.values, s.types = append(s.values, value), append(s.types, oid)
	return "$" + strconv.Itoa(len(s.values))
}

var binary = []int16{pgx.BinaryFormatCode} // texts and bytes as they are

// readOnly is the code of a server that takes no writes, as a standby.
const readOnly = "25006"

// do sends a statement once, and calls row for each row of its answer. swapping is whether
// it replaces an object.
func (r *Remote) do(ctx context.Context, s *statement, swapping bool, row func(columns [][]byte) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	start := time.Now()
	err := r.send(ctx, s, swapping, row)
	remote.Observe(ctx, remote.Request{Start: start, Err: err})
	return err
}

func (r *Remote) send(ctx context.Context, s *statement, swapping bool, row func(columns [][]byte) error) error {
	remote.Moved(ctx)
	c, err := r.pool.Acquire(ctx)
	if err != nil {
		return unsent(ctx, err)
	}
	defer c.Release()
	defer serves(ctx, c.Conn().PgConn().Conn())()
	answer := c.Conn().PgConn().ExecParams(ctx, s.text.String(), s.values, s.types, binary, binary)
	var failed error
	for answer.NextRow() {
		remote.Heard(ctx)
		if failed == nil {
			failed = row(answer.Values())
		}
	}
	if _, err := answer.Close(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
			if swapping {
				err = fmt.Errorf("%w: %w", remote.ErrUnknown, err)
			}
			return err
		}
		if said := (*pgconn.PgError)(nil); errors.As(err, &said) && said.Code == readOnly {
			_ = c.Conn().Close(ctx) // the next statement finds the server that takes writes now
		}
		return reason(err, swapping)
	}
	if swapping && failed == nil && ctx.Err() != nil { // a commit that no longer waits for a standby says that it was made
		return fmt.Errorf("%w: %w", remote.ErrUnknown, context.Cause(ctx))
	}
	return failed
}

// micros decodes a time in microseconds.
func micros(text []byte) time.Time {
	return time.UnixMicro(number(text)).UTC()
}

// number decodes a number.
func number(text []byte) int64 {
	n, _ := strconv.ParseInt(string(text), 10, 64) // the server has written it
	return n
}
