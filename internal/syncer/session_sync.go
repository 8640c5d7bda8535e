package syncer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// sessionSync is what one sync knows of its session: what is here, what is there, and
// what was done about it.
type sessionSync struct {
	*session
	link   *remote.Reader
	pk     string
	cap    int // of a segment, after a refusal for its size; 0: the default
	window window

	estimate *Estimate // not nil: nothing is sent, but counted here

	barred error // why nothing may be sent, once that was found out

	stat    replica.Stat // before it was scanned
	present bool
	changed time.Time // of the session's directory
	main    *history
	began   time.Time // when it was last scanned, by the clock on the wall
	logs    []*ownLog
	files   []*localFile
	lacking []error // parts that are damaged in the cloud
	mended  bool    // what of them is whole here was stored again
	doubt   error   // why the files must be left alone
	why     error   // why they must not be changed now, when that was asked last

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
	v := &sessionSync{session: e.session(id, w)}
	v.pk = segment.SessionPK(v.sid)
	v.link = e.Connect(v.st.Head.Token)
	v.lists = v.link.Lists(v.sid)
	return v
}

// transcript returns the transcript here as a source of lines.
func (v *sessionSync) transcript() source {
	return source{
		core: v.Core, id: v.id, name: sessiondir.Transcript, stream: segment.Transcript, redact: v.Redact, window: &v.window,
		sent: func() segment.Point {
			if v.st.Base == nil {
				return segment.Origin(segment.Transcript)
			}
			return *v.st.Base
		},
	}
}

// syncFiles makes the files here durable before the cloud, or the state, says that
// they were: else what a power cut takes would be taken for a rewind, and be
// taken from all devices.
func (v *sessionSync) syncFiles(ctx context.Context) error {
	if !v.present {
		return nil
	}
	return gone(v.Core.SyncFiles(ctx, v.id, slices.Concat(sessiondir.Files[:], sessiondir.Imported[:])...))
}

// remember keeps what is known now for the next sync.
func (v *sessionSync) remember() error {
	v.st.Lacks = len(v.lacking) > 0
	if v.head != nil {
		v.st.Born = v.head.Born
		if v.present && v.main.point() == v.head.Transcript.Point() && !v.head.Deleted {
			base := v.main.point()
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

// localFile is a small file as it stands here.
type localFile struct {
	name    string
	there   bool
	stamp   sessiondir.Stamp
	sum     segment.Hash   // of the content as it leaves
	content []byte         // as it leaves; nil when only the sum was needed
	forms   []replica.Form // of its lines, where rules changed them
	large   bool           // it is larger than what goes, and stays as it is
	bad     bool           // it is metadata that nobody can read, as a power cut leaves it

	gave bool   // it, or what it was merged to, is in the next head
	take []byte // what is to stand here instead; nil: nothing
}

// LargestFile is the largest small file that goes, in bytes.
const LargestFile = 64 << 20
