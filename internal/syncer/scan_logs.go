package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

func (l *local) scanLogs(ctx context.Context) error {
	l.logs = nil
	for _, log := range logNames {
		own := l.st.Logs[log.kind.String()]
		if own == nil {
			own = &replica.OwnLog{Generation: 1}
		}
		h, err := l.logSource(log.kind, log.name, own).scan(ctx, own.File, true)
		if err != nil {
			return err
		}
		if h.there && h.end().Offset < own.Inherited { // cut below what was taken over
			if h, err = l.anew(ctx, log.kind, log.name, own, own.Generation); err != nil {
				return err
			}
		}
		if !h.there {
			continue
		}
		own.File = &h.Followed
		l.keepLog(log.kind, own)
		l.logs = append(l.logs, &ownLog{history: h, kind: log.kind, own: own})
	}
	return nil
}

func (s *session) keepLog(kind segment.Kind, own *replica.OwnLog) {
	if s.st.Logs == nil {
		s.st.Logs = map[string]*replica.OwnLog{}
	}
	s.st.Logs[kind.String()] = own
}

func (l *local) logSource(kind segment.Kind, name string, own *replica.OwnLog) source {
	st := segment.LogStream(kind, l.Device.ID, own.Generation)
	return source{
		core: l.Core, id: l.id, name: name, start: own.Inherited, redact: l.Redact, window: &l.window,
		stream: st, sent: func() segment.Point { return l.sentLog(st) },
	}
}

// anew scans a log as a generation of its stream, with all it holds.
func (l *local) anew(ctx context.Context, kind segment.Kind, name string, own *replica.OwnLog, generation int) (*history, error) {
	*own = replica.OwnLog{Generation: generation, Base: own.Base}
	h, err := l.logSource(kind, name, own).scan(ctx, nil, true)
	if err == nil {
		own.File = &h.Followed
	}
	return h, err
}
