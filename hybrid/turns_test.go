package hybrid

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestTurns has two devices take turns in one session, each turn in a process
// that refreshes, adds a message and ends with a Sync that returned nil. In some
// turns the network or the account fails. No turn is missed by the next, and the
// session never parts in two.
func TestTurns(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"save", "append"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			seed := testenv.Seed(t)
			r := rand.New(rand.NewPCG(seed, 8))
			c := newCloud(t, nil)
			work := c.serve(t, c)
			work.Session = "s"
			dirs := []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
			told := 0
			n := testenv.Share(6, 6, testenv.Further(60, 200))
			for i := range n {
				which := i % 2
				away := c.trouble(r)
				turn := work.by([]string{"a", "b"}[which], how, fmt.Sprint("turn ", i))
				p := turn.spawn(t, "turns", dirs[which])
				for line, ok := p.Line(); ok; line, ok = p.Line() {
					told++
					require.NotContains(t, line, "wrong", "seed %d, turn %d", seed, i)
					if away {
						c.Inject(nil)
					}
				}
				require.Empty(t, p.End(t), "seed %d, turn %d", seed, i)
				require.False(t, t.Failed(), "seed %d, turn %d ended with an error", seed, i)
			}
			c.Inject(nil)
			a := c.device(t, "c")
			a.refresh("s")
			require.Equal(testenv.Lost(t), numbered("turn ", 0, n), a.texts("s"), "seed %d", seed)
			branches, err := a.Histories(t.Context(), "s")
			require.NoError(t, err)
			require.Empty(t, branches, "seed %d", seed)
			t.Logf("seed %d: %d turns, %d calls told of a failure", seed, n, told)
		})
	}
}

// trouble lets requests fail, or none. away: all of them, until that ends.
func (c *cloud) trouble(r *rand.Rand) (away bool) {
	switch r.IntN(4) {
	case 0:
		fault := []cosmostest.Fault{cosmostest.Drop(), cosmostest.LoseAnswer(), cosmostest.Refuse(503, 0)}[r.IntN(3)]
		c.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault { return fault }))
		return true
	case 1, 2:
		c.Inject(cosmostest.Data(cosmostest.Random(r.Uint64(), 0.15,
			cosmostest.Drop(), cosmostest.LoseAnswer(), cosmostest.Refuse(http.StatusTooManyRequests, 10*time.Millisecond),
			cosmostest.Refuse(503, 0), cosmostest.Refuse(449, 0), cosmostest.Refuse(412, 0), cosmostest.Duplicate(), cosmostest.Fault{Retried: true},
			cosmostest.Fault{Echo: 2}, cosmostest.Fault{Page: 1}, cosmostest.Delay(20*time.Millisecond))))
	default:
		c.Inject(nil)
	}
	return false
}

// turnsChild takes one turn. It prints a line for each call that failed, which
// says what is wrong when the status of the session does not tell of it.
func turnsChild(ctx context.Context, dir string, e errand) error {
	s, err := e.insist(ctx, dir)
	if err != nil {
		return err
	}
	again := func() (*Store, error) { // the next store does not know that the account was away
		closed := s.Close()
		s, err = e.insist(ctx, dir)
		return s, errors.Join(err, closed)
	}
	how, text := e.Calls[0], e.Calls[1]
	number, err := strconv.Atoi(text[strings.LastIndexByte(text, ' ')+1:])
	if err != nil {
		return err
	}
	refresh := func(ctx context.Context) error {
		_, err := s.Refresh(ctx, e.Session)
		if number == 0 && errors.Is(err, sessionstore.ErrNotFound) {
			return nil
		}
		return err
	}
	sync := func(ctx context.Context) error {
		r, err := s.Sync(ctx)
		if len(r.Conflicts) > 0 {
			fmt.Println("wrong: two histories")
		}
		return err
	}
	err = e.until(ctx, s, refresh, again)
	if err == nil {
		err = takeTurn(ctx, s, e.Session, how, number, text)
	}
	if err == nil {
		err = e.until(ctx, s, sync, again)
	}
	return errors.Join(err, s.Close())
}

// patience is how long a call may take before it is made again for the nth time, from
// 0: longer each time, so that a slow machine comes to an end.
func patience(n int) time.Duration { return time.Duration(n+1) * 700 * time.Millisecond }

// insist opens the sessions directory, again and again.
func (e errand) insist(ctx context.Context, dir string) (s *Store, err error) {
	for n := range 1000 {
		limited, cancel := context.WithTimeout(ctx, patience(n))
		s, err = e.open(limited, dir, &Options{Manual: true})
		cancel()
		if err == nil {
			return s, nil
		}
		fmt.Println("not open:", err)
	}
	return nil, err
}

// until makes a call again, by the next store, until it returns nil. It gives each a short
// time.
func (e errand) until(ctx context.Context, s *Store, call func(context.Context) error, again func() (*Store, error)) error {
	for n := range 1000 {
		limited, cancel := context.WithTimeout(ctx, patience(n))
		err := call(limited)
		cancel()
		if err == nil {
			return nil
		}
		fmt.Println(judged(s, e.Session, err))
		if s, err = again(); err != nil {
			return err
		}
	}
	return call(ctx)
}

// judged returns how the session stands after a call failed.
func judged(s *Store, id string, err error) string {
	if !s.Exists(id) {
		return fmt.Sprint("not here: ", err)
	}
	all, unknown := s.Status(context.Background(), id)
	if unknown != nil {
		return fmt.Sprint("wrong: ", unknown, " after ", err)
	}
	now := all[0]
	if now.Err == nil || now.State != Deferred && now.State != Blocked {
		return fmt.Sprintf("wrong: %+v after %v", now, err)
	}
	return now.State.String()
}

// takeTurn adds a message, and prints a line when the session lacks one of those
// before it.
func takeTurn(ctx context.Context, s *Store, id, how string, number int, text string) error {
	old, err := s.Load(ctx, id)
	if errors.Is(err, sessionstore.ErrNotFound) {
		old, err = &sessionstore.Session{}, nil
	}
	if err != nil {
		return err
	}
	if len(old.Messages) != number {
		fmt.Printf("wrong: %d messages before turn %d\n", len(old.Messages), number)
	}
	m, err := sessionstore.Text("user", text, time.Now())
	if err != nil {
		return err
	}
	if how == "append" {
		return s.Append(ctx, id, m)
	}
	return s.Save(ctx, id, append(old.Messages, m), old.Metadata)
}
