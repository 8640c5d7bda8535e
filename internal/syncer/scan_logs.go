package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/track"
)

func (l *local) scanLogs(ctx context.Context) error {
	l.logs = nil
	for _, log := range logNames {
		own := l.st.Logs[log.kind.String()]
		if own == nil {
			own = &replica.OwnLog{Generation: 1}
		}
		h, err := l.logSource(log.kind, log.name, own).Scan(ctx, own.File, true)
		if err != nil {
			return err
		}
		if h.There && h.End().Offset < own.Inherited { // cut below what was taken over
			if h, err = l.anew(ctx, log.kind, log.name, own, own.Generation); err != nil {
				return err
			}
		}
		if !h.There {
			continue
		}
		own.File = &h.Followed
		l.keepLog(log.kind, own)
		l.logs = append(l.logs, &ownLog{Chain: h, kind: log.kind, own: own})
	}
	return nil
}

func (s *session) keepLog(kind segment.Kind, own *replica.OwnLog) {
	if s.st.Logs == nil {
		s.st.Logs = map[string]*replica.OwnLog{}
	}
	s.st.Logs[kind.String()] = own
}

func (l *local) logSource(kind segment.Kind, name string, own *replica.OwnLog) track.Source {
	st := segment.LogStream(kind, l.Device.ID, own.Generation)
	return track.Source{
		Core: l.Core, ID: l.id, Name: name, Start: own.Inherited, Redact: l.Redact, Window: &l.window,
		Stream: st, Sent: func() segment.Point { return l.sentLog(st) },
	}
}

// anew scans a log as a generation of its stream, with all it holds.
func (l *local) anew(ctx context.Context, kind segment.Kind, name string, own *replica.OwnLog, generation int) (*track.Chain, error) {
	*own = replica.OwnLog{Generation: generation, Base: own.Base}
	h, err := l.logSource(kind, name, own).Scan(ctx, nil, true)
	if err == nil {
		own.File = &h.Followed
	}
	return h, err
}
