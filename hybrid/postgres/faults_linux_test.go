package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote/remotetest"
)

// wire is a connection to a server that loses answers.
type wire struct {
	net.Listener
	server string
	all    sync.WaitGroup

	mu     sync.Mutex
	losing bool
	mute   bool
	lost   chan struct{} // an answer was lost
}

// wired listens before a server.
func wired(t *testing.T, s *server) *wire {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{Listener: l, server: "127.0.0.1:" + s.port, lost: make(chan struct{}, 100)}
	w.all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.all.Go(func() { w.serve(c) })
		}
	})
	t.Cleanup(func() { require.NoError(t, l.Close()); w.all.Wait() })
	return w
}

func (w *wire) serve(c net.Conn) {
	to, err := net.Dial("tcp", w.server)
	if err != nil {
		_ = c.Close()
		return
	}
	w.all.Go(func() { _, _ = io.Copy(to, c); _ = to.Close() })
	buf := make([]byte, 64<<10)
	for {
		n, err := to.Read(buf)
		w.mu.Lock()
		losing, mute := w.losing, w.mute
		w.mu.Unlock()
		if err != nil || losing {
			if losing {
				w.lost <- struct{}{}
			}
			break
		}
		if mute {
			w.lost <- struct{}{}
			continue
		}
		if _, err := c.Write(buf[:n]); err != nil {
			break
		}
	}
	_ = c.Close()
	_ = to.Close()
}

func (w *wire) set(losing, mute bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.losing, w.mute = losing, mute
}

func (w *wire) address(database string) string {
	return "postgres://admin@" + w.Addr().String() + "/" + database
}

// TestLostAnswer loses the answer of a swap that was made: its outcome is unknown, it was
// made once, and the next call is as usual.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	w := wired(t, s)
	r := connect(t, w.address(database))
	v := commit(t, r, "", "one")
	w.set(true, false)
	_, err := r.Commit(t.Context(), part, []remote.Object{{Name: "beside", Label: []byte(`{}`)}}, head(v, "two"))
	require.ErrorIs(t, err, remote.ErrUnknown)
	require.ErrorIs(t, err, remote.ErrUnreachable)
	_, err = r.Get(t.Context(), part, "head", "") // a read has no outcome
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.NotErrorIs(t, err, remote.ErrUnknown)
	w.set(false, false)
	require.Eventually(t, func() bool {
		o, err := r.Get(t.Context(), part, "head", "")
		return err == nil && string(o.Body) == "two" && o.Version != v
	}, time.Minute, 5*time.Millisecond)
	require.Equal(t, []string{"beside", "head"}, list(t, r, remote.Query{}))
	_, err = r.Commit(t.Context(), part, nil, head(v, "three"))
	require.ErrorIs(t, err, remote.ErrChanged)
}

// TestMute: a call whose context ends while the server is silent returns, and says of a
// swap that its outcome is unknown.
func TestMute(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	w := wired(t, s)
	r := connect(t, w.address(database))
	v := commit(t, r, "", "one")
	w.set(false, true)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	go func() { <-w.lost; cancel(gone) }()
	_, err := r.Commit(ctx, part, nil, head(v, "two"))
	require.ErrorIs(t, err, remote.ErrUnknown)
	require.ErrorIs(t, err, gone)
	w.set(false, false)
}

// TestServerStops: nothing answers while the server is stopped, nothing is lost, and the
// same remote goes on when it is back.
func TestServerStops(t *testing.T) {
	t.Parallel()
	s := own(t)
	r := connect(t, s.address("admin", s.provisioned(t)))
	v := commit(t, r, "", "one", "a")
	s.stop()
	for range 2 {
		_, err := r.Commit(t.Context(), part, nil, head(v, "two"))
		require.ErrorIs(t, err, remote.ErrUnreachable)
	}
	var away *remote.Unreachable
	_, err := r.Commit(t.Context(), part, nil, head(v, "two"))
	require.ErrorAs(t, err, &away)
	require.Equal(t, remote.Away, away.Kind)
	require.NotErrorIs(t, err, remote.ErrUnknown, "it was never sent")
	require.NoError(t, s.start())
	require.Eventually(t, func() bool {
		_, err := r.Commit(t.Context(), part, nil, head(v, "two"))
		return err == nil || errors.Is(err, remote.ErrChanged)
	}, time.Minute, 5*time.Millisecond)
	require.Equal(t, []string{"a", "head"}, list(t, r, remote.Query{}))
}

// TestDurable kills the server after commits of a role for which commits are not durable:
// they are there again.
func TestDurable(t *testing.T) {
	t.Parallel()
	s := own(t)
	s.stop()
	s.args = append(s.args, "-c", "wal_writer_delay=10s", "-c", "synchronous_commit=off")
	require.NoError(t, s.start())
	address := s.address("admin", s.provisioned(t))
	r := connect(t, address)
	s.do(t, "postgres", "CHECKPOINT")
	_, err := r.Commit(t.Context(), part, []remote.Object{{Name: "first", Label: []byte(`{}`)}}, nil)
	require.NoError(t, err)
	s.kill()
	require.NoError(t, s.start())
	r = connect(t, address)
	require.Equal(t, []string{"first"}, list(t, r, remote.Query{}))
	s.do(t, "postgres", "CHECKPOINT")
	commit(t, r, "", "one", "second")
	s.kill()
	require.NoError(t, s.start())
	r = connect(t, address)
	require.Equal(t, []string{"first", "head", "second"}, list(t, r, remote.Query{}))
	s.do(t, "postgres", "CHECKPOINT")
	require.NoError(t, r.Delete(t.Context(), part, []string{"first"}))
	s.kill()
	require.NoError(t, s.start())
	require.Equal(t, []string{"head", "second"}, list(t, connect(t, address), remote.Query{}))
}

// TestNoSync: a server that does not write to the disk is refused.
func TestNoSync(t *testing.T) {
	t.Parallel()
	s := own(t)
	s.stop()
	s.args = append(s.args, "-c", "fsync=off")
	require.NoError(t, s.start())
	err := Provision(t.Context(), s.address("admin", "postgres"))
	require.ErrorIs(t, err, remote.ErrBlocked)
	require.ErrorContains(t, err, "fsync")
}

// TestStatementTimeout: a statement that the server ends was not done.
func TestStatementTimeout(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	r := connect(t, s.address("admin", database))
	v := commit(t, r, "", "one")
	s.do(t, database, `CREATE ROLE hasty LOGIN SUPERUSER; ALTER ROLE hasty SET statement_timeout = '50ms'`)
	hasty := connect(t, s.address("hasty", database))
	c, err := r.pool.Acquire(t.Context())
	require.NoError(t, err)
	defer c.Release()
	tx, err := c.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT 1 FROM sessionstorage.objects WHERE name = 'head' FOR UPDATE`)
	require.NoError(t, err)
	_, err = hasty.Commit(t.Context(), part, nil, head(v, "two"))
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.NotErrorIs(t, err, remote.ErrUnknown)
	require.NoError(t, tx.Rollback(t.Context()))
	commit(t, r, v, "three")
}

// TestTooManyConnections is told as a limit, after which asking again helps.
func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	s.do(t, database, `CREATE ROLE many LOGIN CONNECTION LIMIT 0`)
	_, err := connect(t, s.address("many", database)).Get(t.Context(), part, "head", "")
	var busy *remote.Unreachable
	require.ErrorAs(t, err, &busy)
	require.Equal(t, remote.Throttled, busy.Kind)
}

// TestTooLarge refuses an object that the server would not take, and stores nothing.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := running(t)
	r := connect(t, s.address("admin", s.provisioned(t)))
	large := []remote.Object{{Name: "a", Label: []byte(`{}`)}, {Name: "b", Label: []byte(`{}`), Body: make([]byte, remote.MaxObject+1)}}
	_, err := r.Commit(t.Context(), part, large, head("", "one"))
	require.ErrorIs(t, err, remote.ErrTooLarge)
	require.Empty(t, list(t, r, remote.Query{}))
}

// TestErrorsQuoteNothing: the texts of errors hold nothing of an object.
func TestErrorsQuoteNothing(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	s.do(t, database, `ALTER TABLE sessionstorage.objects ADD CHECK (name <> 'secret-name'), ADD CHECK (length(body) < 5)`)
	r := connect(t, s.address("admin", database))
	for _, o := range []remote.Object{{Name: "secret-name", Label: []byte(`{}`)}, {Name: "a", Label: []byte(`{}`), Body: []byte("secret-body")}} {
		_, err := r.Commit(t.Context(), part, []remote.Object{o}, nil)
		require.ErrorIs(t, err, remote.ErrRefused)
		require.NotContains(t, err.Error(), "secret")
	}
}

// TestTakesWritesElsewhere: a connection that takes no writes, as after its server became
// a standby, is not used again.
func TestTakesWritesElsewhere(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	s.do(t, database, `CREATE ROLE moved LOGIN SUPERUSER; ALTER ROLE moved SET default_transaction_read_only = on`)
	r := connect(t, s.address("moved", database))
	_, err := r.Commit(t.Context(), part, nil, head("", "one"))
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.NotErrorIs(t, err, remote.ErrUnknown)
	s.do(t, database, `ALTER ROLE moved RESET default_transaction_read_only`)
	commit(t, r, "", "one")
}

// TestNoAnswer: a statement on a silent connection ends with its context, tells of what moves
// before, and of nothing after.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	w := wired(t, s)
	r := connect(t, w.address(database))
	v := commit(t, r, "", "one")
	moved := make(chan struct{}, 1000)
	ctx, end := context.WithCancelCause(remote.Moving(t.Context(), func() { moved <- struct{}{} }))
	_, err := r.Commit(ctx, part, []remote.Object{{Name: "a", Label: []byte(`{}`), Body: make([]byte, 10*block)}}, head(v, "two"))
	require.NoError(t, err)
	require.Greater(t, len(moved), 10)
	w.set(false, true)
	go func() { <-w.lost; end(remote.NoAnswer(time.Second)) }()
	_, err = r.Commit(ctx, part, nil, head(v, "three"))
	require.ErrorIs(t, err, remote.ErrUnknown)
	require.ErrorIs(t, err, remote.NoAnswer(time.Second))
	n := len(moved)
	w.set(false, false)
	_, err = r.Get(t.Context(), part, "head", "")
	require.NoError(t, err)
	require.Len(t, moved, n, "the connection serves another call")
}

// TestPlanted has others store objects that are larger than they may be.
func TestPlanted(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	remotetest.RunPlanted(t, func(t *testing.T) (remote.Remote, remotetest.Plant) {
		return connect(t, s.address("admin", database)), func(t *testing.T, part string, o remote.Object) {
			t.Helper()
			c, err := pgx.Connect(t.Context(), s.address("admin", database))
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close(context.WithoutCancel(t.Context()))) }()
			if o.Body == nil {
				o.Body = []byte{}
			}
			_, err = c.Exec(t.Context(), `INSERT INTO sessionstorage.objects (part, name, label, body, version, tx, begun, stored)
				VALUES ($1, $2, $3, $4, 'planted', pg_current_xact_id(), now(), now())`, part, o.Name, o.Label, o.Body)
			require.NoError(t, err)
		}
	})
}

// TestEncodings is databases of other encodings than UTF-8.
func TestEncodings(t *testing.T) {
	t.Parallel()
	s := running(t)
	for _, encoding := range []string{"LATIN1", "SQL_ASCII", "EUC_JP", "UTF8"} {
		name := fmt.Sprint("test_", databases.Add(1))
		s.do(t, "postgres", `CREATE DATABASE `+name+` ENCODING '`+encoding+`' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
		require.NoError(t, Provision(t.Context(), s.address("admin", name)), encoding)
		r := connect(t, s.address("admin", name))
		v := commit(t, r, "", "größer 漢字 \x00")
		o, err := r.Get(t.Context(), part, "head", "")
		require.NoError(t, err, encoding)
		require.Equal(t, v, o.Version)
		require.Equal(t, "größer 漢字 \x00", string(o.Body))
	}
}
