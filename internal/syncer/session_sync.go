package syncer

import (
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// sessionSync is a sync of a session.
type sessionSync struct {
	*sides

	estimate *Estimate // not nil: nothing is sent, but counted here

	barred error        // why nothing may be sent, once that was found out
	stat   replica.Stat // before it was scanned
	began  time.Time    // when it was last scanned, by the clock on the wall
	mended bool         // what is damaged in the cloud and whole here was stored again

	begins map[segment.Stream]head.Extent // logs of a new session that begin with its parent's
}

// begin begins a sync of a session that the caller has entered.
func (e *Syncer) begin(id string, w Options) *sessionSync {
	return &sessionSync{sides: e.sides(id, w)}
}

// lack takes note of a part of the session that is damaged in the cloud and
// returns nil: what is whole is installed without it. It returns every other error.
func (v *sessionSync) lack(name string, err error) error {
	if !errors.Is(err, remote.ErrDamaged) || v.estimate != nil {
		return err
	}
	v.cloud.lacking = append(v.cloud.lacking, fmt.Errorf("%s: %w", name, err))
	return nil
}

// wait leaves the files as they are, for the reason why.
func (v *sessionSync) wait(why error) error {
	v.out.State, v.out.Why = Behind, why
	return nil
}
