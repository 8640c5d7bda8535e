package syncer

import (
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// sessionSync is what one sync knows of its session: what is here, what is there, and
// what was done about it.
type sessionSync struct {
	*session
	local *local
	link  *remote.Reader
	pk    string
	cap   int // of a segment, after a refusal for its size; 0: the default

	estimate *Estimate // not nil: nothing is sent, but counted here

	barred error // why nothing may be sent, once that was found out

	stat    replica.Stat // before it was scanned
	began   time.Time    // when it was last scanned, by the clock on the wall
	lacking []error      // parts that are damaged in the cloud
	mended  bool         // what of them is whole here was stored again
	why     error        // why the files must not be changed now, when that was asked last

	formsKnown bool // the forms of lines were compared with those in the cloud

	head  *head.Head // nil: none
	etag  cosmos.ETag
	infos []segment.Info // of the transcript, once listed
	lists *remote.Lists
	op    string // of the last head that was written
	left  leftovers

	begins map[segment.Stream]head.Extent // logs of a new session that begin with its parent's

	out Result
}

// begin begins a sync of a session that the caller has entered, or one that changes
// nothing.
func (e *Syncer) begin(id string, w Options) *sessionSync {
	l := e.local(id, w)
	v := &sessionSync{session: l.session, local: l}
	v.pk = segment.SessionPK(v.sid)
	v.link = e.Connect(v.st.Head.Token)
	v.lists = v.link.Lists(v.sid)
	return v
}

// remember keeps what is known now for the next sync.
func (v *sessionSync) remember() error {
	v.st.Lacks = len(v.lacking) > 0
	if v.head != nil {
		v.st.Born = v.head.Born
		if v.local.present && v.local.main.point() == v.head.Transcript.Point() && !v.head.Deleted {
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
	v.lacking = append(v.lacking, fmt.Errorf("%s: %w", name, err))
	return nil
}

// lacks returns what could not be read; nil: all could.
func (v *sessionSync) lacks() error { return errors.Join(v.lacking...) }

// wait leaves the files as they are, for the reason why.
func (v *sessionSync) wait(why error) error {
	v.out.State, v.out.Why = Behind, why
	return nil
}

// cut returns how size bytes of lines are cut into segments.
func (v *sessionSync) cut(size int64) segment.Options {
	return segment.Options{SID: v.sid, Cap: v.cap, Size: size}
}
