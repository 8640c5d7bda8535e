package syncer

import (
	"context"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// local is the session as it is here, since it was last scanned.
type local struct {
	*session
	present bool
	changed time.Time // of the session's directory
	main    *track.Chain
	logs    []*ownLog
	files   []*localFile
	doubt   error // why the files must be left alone
	window  track.Window
}

func (e *Syncer) local(id string, w Options) *local { return &local{session: e.session(id, w)} }

// transcript returns the transcript here as a source of lines.
func (l *local) transcript() track.Source {
	return track.Source{
		Core: l.Core, ID: l.id, Name: sessiondir.Transcript, Stream: segment.Transcript, Redact: l.Privacy.Redact, Window: &l.window,
		Sent: func() segment.Point {
			if l.st.Base == nil {
				return segment.Origin(segment.Transcript)
			}
			return *l.st.Base
		},
	}
}

// syncFiles makes the files here durable before the cloud, or the state, says that
// they were: else what a power cut takes would be taken for a rewind, and be
// taken from all devices.
func (l *local) syncFiles(ctx context.Context) error {
	if !l.present {
		return nil
	}
	return track.Gone(l.Core.SyncFiles(ctx, l.id, slices.Concat(sessiondir.Files[:], sessiondir.Imported[:])...))
}

// ownLog returns the log here that continues a stream; nil for none.
func (l *local) ownLog(st segment.Stream) *ownLog {
	for _, log := range l.logs {
		if log.Stream == st {
			return log
		}
	}
	return nil
}

// localFile is a small file as it stands here.
type localFile struct {
	name    string
	there   bool
	stamp   sessiondir.Stamp
	sum     segment.Hash // of the content as it leaves
	content []byte       // as it leaves; nil when only the sum was needed
	forms   []track.Form // of its lines, where rules changed them
	clock   head.HLC     // of the change in the cloud, or of the one that goes there
	large   bool         // it is larger than what goes, and stays as it is
	bad     bool         // it is metadata that nobody can read, as a power cut leaves it

	gave bool   // it, or what it was merged to, is in the next head
	take []byte // what is to stand here instead; nil: nothing
}

// LargestFile is the largest small file that goes, in bytes.
const LargestFile = 64 << 20

// logNames are the logs of a session. Each device has its own stream of each.
var logNames = [len(sessiondir.Logs)]struct {
	kind segment.Kind
	name string
}{
	{segment.KindEvents, sessiondir.Events},
	{segment.KindPhases, sessiondir.Phases},
	{segment.KindConversation, sessiondir.Conversation},
	{segment.KindStates, sessiondir.StateHistory},
}

// logName returns the name of the file that a stream is of.
func logName(st segment.Stream) string {
	for _, l := range logNames {
		if l.kind == st.Kind() {
			return l.name
		}
	}
	return string(st)
}

// ownLog is a log of this device as it stands. It begins behind what the
// file took over from another device.
type ownLog struct {
	*track.Chain
	kind segment.Kind
	own  *replica.OwnLog
}

// largeLine reads the line again that the next long one may be stored as a
// difference to. Without it that one is stored whole.
func (l *ownLog) largeLine(ctx context.Context, before int64) (*segment.Large, error) {
	if l.own.Large == nil || l.own.Large.N >= before { // of lines that were not stored after all
		return nil, nil
	}
	at, ok, err := l.Mark(ctx, l.own.Large.N)
	if err != nil || !ok {
		return nil, err
	}
	large := *l.own.Large
	for line, err := range l.Lines(ctx, at) {
		large.Line = line
		return &large, err
	}
	return nil, nil
}
