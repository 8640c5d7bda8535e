package trash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Failure is a session that could not be moved.
type Failure struct {
	ID  string
	Err error
}

// Result is what [Plan.Run] did.
type Result struct {
	Receipt Receipt   // of what was taken; its ID is empty when nothing was
	Failed  []Failure // these stay
}

var errWritten = errors.New("it was written since the plan was made")

// Run moves the sessions that the plan takes into the trash. When it returns,
// what the receipt names is there, durably if the store promises that. A
// session that somebody began to run or wrote since the plan was made stays
// and is told in Failed, as is one that cannot be moved. After an error, or
// the end of ctx, the receipt tells how far it came.
func (p *Plan) Run(ctx context.Context) (Result, error) {
	var res Result
	if len(p.Take) == 0 {
		return res, nil
	}
	in := p.st.Inside()
	trash, err := in.Trash()
	if err != nil {
		return res, fmt.Errorf("open trash: %w", err)
	}
	defer trash.Close()
	if err := sweep(ctx, p.st, trash); err != nil {
		return res, err
	}
	now := in.Now().UTC().Truncate(time.Second)
	r := Receipt{
		Version: version, ID: newID(now), At: now, Why: p.opts.Why,
		Project: project(p.st.Dir()), From: p.st.Dir(), Sessions: p.Take,
	}
	if err := r.write(trash, in.Sync()); err != nil {
		return res, errors.Join(fmt.Errorf("write receipt: %w", err), tidy(ctx, p.st, trash, r.ID))
	}
	r.Sessions = nil
	for i, s := range p.Take {
		if err = ctx.Err(); err != nil {
			break
		}
		if err := p.move(ctx, r.ID, s); err != nil {
			res.Failed = append(res.Failed, Failure{s.ID, err})
		} else {
			r.Sessions = append(r.Sessions, s)
		}
		p.opts.progress(i+1, len(p.Take))
	}
	if len(r.Sessions) == 0 {
		return res, errors.Join(err, tidy(ctx, p.st, trash, r.ID))
	}
	err = errors.Join(err, in.Settle(below(r.ID), "."))
	res.Receipt = r
	return res, err
}

// move moves one session unless it was written since it was looked at.
func (p *Plan) move(ctx context.Context, receipt string, s Session) error {
	now := Session{}
	err := now.measure(filepath.Join(p.st.Dir(), s.ID))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case now.Written.After(s.Written), now.Modified.After(s.Modified):
		return errWritten
	}
	return p.st.Inside().Send(ctx, s.ID, below(receipt))
}

// path returns the path of a receipt below the sessions directory.
func path(receipt string) string { return filepath.Join(sessiondir.Trash, receipt) }
