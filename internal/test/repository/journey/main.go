// Journey makes one call of the library and writes which functions it reached.
//
// Its test builds it with counters of coverage, and compares the number of functions of each
// journey with testdata/functions.txt: who reads a journey reads that many. The counters
// are cleared just before the call, so what prepares it does not count.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/coverage"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// session is the session that each journey begins with.
const session = "11111111-1111-4111-8111-111111111111"

// journeys are the calls, by name. Each returns what makes the call, once it is prepared.
var journeys = map[string]func(ctx context.Context, st *sessionstore.Store) (func() error, error){
	"append an answer":             appending("assistant"),
	"append the words of a person": appending("user"),
	"load in another store":        loading,
	"save with one message more":   saving,

	"begin a turn":  turning(begin, begin, ask, call, end),
	"store a step":  turning(ask, begin, ask, call),
	"run a call":    turning(call, begin, ask, call, ask, call, ask),
	"end a turn":    turning(end, begin, ask, call),
	"resume a turn": turning(resume, begin, ask, call, ask, leave),
}

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run makes the journey name in the new directory dir, and writes its counters to out.
func run(ctx context.Context, name, dir, out string) (err error) {
	st, err := sessionstore.Open(filepath.Join(dir, "sessions"), &sessionstore.Options{Workspace: dir})
	if err != nil {
		return err
	}
	for i := range 6 {
		if err := say(ctx, st, []string{"user", "assistant"}[i%2]); err != nil {
			return err
		}
	}
	call, err := journeys[name](ctx, st)
	if err != nil {
		return err
	}
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	if err := call(); err != nil {
		return err
	}
	if err := coverage.WriteMetaDir(out); err != nil {
		return err
	}
	if err := coverage.WriteCountersDir(out); err != nil {
		return err
	}
	return st.Close()
}

// say appends a message of the role.
func say(ctx context.Context, st *sessionstore.Store, role string) error {
	m, err := sessionstore.Text(role, "a message", time.Now())
	if err != nil {
		return err
	}
	return st.Append(ctx, session, m)
}

func appending(role string) func(context.Context, *sessionstore.Store) (func() error, error) {
	return func(ctx context.Context, st *sessionstore.Store) (func() error, error) {
		m, err := sessionstore.Text(role, "one more", time.Now())
		return func() error { return st.Append(ctx, session, m) }, err
	}
}

func loading(ctx context.Context, st *sessionstore.Store) (func() error, error) {
	other, err := sessionstore.Open(st.Dir(), nil)
	return func() error {
		_, err := other.Load(ctx, session)
		return err
	}, err
}

func saving(ctx context.Context, st *sessionstore.Store) (func() error, error) {
	s, err := st.Load(ctx, session)
	if err != nil {
		return nil, err
	}
	m, err := sessionstore.Text("assistant", "one more", time.Now())
	return func() error { return st.Save(ctx, session, append(s.Messages, m), s.Metadata) }, err
}
