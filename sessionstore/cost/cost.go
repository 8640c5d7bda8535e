package cost

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/store/decimal"
	"github.com/amplifier-go/sessionstorage/internal/store/sessioncost"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Restored is the cost of a session so far.
type Restored struct {
	Session string
	Fork    bool   // it counts as a fork
	Known   bool   // a response, or the parent, has a cost; always true for a fork
	USD     string // the exact decimal total, 0 if not Known

	// Problems are the reasons, sorted and in the words of the newest tools, why the total
	// of a fork may be too low. It is empty for a session that is no fork.
	Problems []string

	total decimal.Number
}

// Contribution is an amount that a host adds to the costs of a session that it resumes.
type Contribution struct {
	Channel string // session.cost
	Name    string // history:<id>
	USD     string
}

// Contribution returns the amount to add, and false if there is none: the total is zero or
// not known. Add it once for each run of a session.
func (r Restored) Contribution() (Contribution, bool) {
	return Contribution{Channel: "session.cost", Name: "history:" + r.Session, USD: r.USD}, !r.total.IsZero()
}

// SoFar returns the cost of session id so far. The session is a fork if its metadata have a
// member forked_from_turn, or cannot be read. The error is the context's, or
// Is [sessionstore.ErrNotFound] or [sessionstore.ErrInvalidID], or is for a total whose exponent
// is larger than 999,999, which no tool reads.
func SoFar(ctx context.Context, st *sessionstore.Store, id string) (Restored, error) {
	md, err := st.Metadata(ctx, id)
	switch _, forked := md.Lookup("forked_from_turn"); {
	case errors.Is(err, sessionstore.ErrCorrupt) || err == nil && forked:
		return Fork(ctx, st, id)
	case err != nil:
		return Restored{}, err
	}
	return Ordinary(ctx, st, id)
}

// Ordinary is [SoFar] for a session that is no fork, whatever its metadata say.
// Rows that name no session count, and those without a cost do not.
func Ordinary(ctx context.Context, st *sessionstore.Store, id string) (Restored, error) {
	r := Restored{Session: id}
	log, err := sessioncost.Open(ctx, filesOf(st, id).Ordinary, id)
	if err != nil {
		return Restored{}, about(id, err)
	}
	if log != nil {
		if r.total, r.Known, err = log.Ordinary(); err != nil {
			return Restored{}, about(id, err)
		}
	}
	r.USD = r.total.String()
	return r, nil
}

// Fork is [SoFar] for a fork, whatever its metadata say. Rows that name no
// session do not count.
func Fork(ctx context.Context, st *sessionstore.Store, id string) (Restored, error) {
	md, err := st.Metadata(ctx, id)
	if err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return Restored{}, err
	}
	raw, _ := md.Lookup(sessioncost.Member)
	boundary := sessioncost.Verify(raw)
	if err != nil {
		boundary.Problems = append(boundary.Problems, "unreadable_fork_metadata")
	}
	log, err := sessioncost.Open(ctx, filesOf(st, id).Capture, id)
	if err != nil {
		return Restored{}, about(id, err)
	}
	r := Restored{Session: id, Fork: true, Known: true}
	if r.total, r.Problems, err = log.Fork(boundary, id); err != nil {
		return Restored{}, about(id, err)
	}
	r.USD = r.total.String()
	return r, nil
}

// filesOf returns the logs of session id in the environment of the process.
func filesOf(st *sessionstore.Store, id string) sessioncost.Files {
	return sessioncost.LocateHere(filepath.Join(st.Dir(), id))
}

func about(id string, err error) error {
	return fmt.Errorf("restore cost of session %q: %w", limits.ID(id), err)
}
