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

// sessionSync is a sync of a session: both sides of it, what was found out about them, and
// what was done.
type sessionSync struct {
	*session
	local *local
	cloud *cloud

	estimate *Estimate // not nil: nothing is sent, but counted here

	barred     error        // why nothing may be sent, once that was found out
	stat       replica.Stat // before it was scanned
	began      time.Time    // when it was last scanned, by the clock on the wall
	mended     bool         // what is damaged in the cloud and whole here was stored again
	why        error        // why the files must not be changed now, when that was asked last
	formsKnown bool         // the forms of lines were compared with those in the cloud

	begins map[segment.Stream]head.Extent // logs of a new session that begin with its parent's

	out Result
}

// begin begins a sync of a session that the caller has entered.
func (e *Syncer) begin(id string, w Options) *sessionSync {
	l := e.local(id, w)
	return &sessionSync{session: l.session, local: l, cloud: l.session.cloud()}
}

// remember keeps what is known now for the next sync.
func (v *sessionSync) remember() error {
	v.st.Lacks = len(v.cloud.lacking) > 0
	if v.cloud.head != nil {
		v.st.Born = v.cloud.head.Born
		if v.local.present && v.local.main.point() == v.cloud.head.Transcript.Point() && !v.cloud.head.Deleted {
			base := v.local.main.point()
			v.st.Base = &base
		}
	}
	return v.States.Save(v.sid, v.st)
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
