package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/track"
)

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
