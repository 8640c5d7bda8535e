package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

func (v *sessionSync) scanLogs(ctx context.Context) error {
	v.logs = nil
	for _, log := range logNames {
		own := v.st.Logs[log.kind.String()]
		if own == nil {
			own = &replica.OwnLog{Generation: 1}
		}
		h, err := v.logSource(log.kind, log.name, own).scan(ctx, own.File, true)
		if err != nil {
			return err
		}
		if h.there && h.end().Offset < own.Inherited { // cut below what was taken over
			if h, err = v.anew(ctx, log.kind, log.name, own); err != nil {
				return err
			}
		}
		if !h.there {
			continue
		}
		own.File = &h.Followed
		v.keepLog(log.kind, own)
		v.logs = append(v.logs, &ownLog{history: h, kind: log.kind, own: own})
	}
	return nil
}

func (s *session) keepLog(kind segment.Kind, own *replica.OwnLog) {
	if s.st.Logs == nil {
		s.st.Logs = map[string]*replica.OwnLog{}
	}
	s.st.Logs[kind.String()] = own
}

func (v *sessionSync) logSource(kind segment.Kind, name string, own *replica.OwnLog) source {
	st := segment.LogStream(kind, v.Device.ID, own.Generation)
	return source{
		core: v.Core, id: v.id, name: name, start: own.Inherited, redact: v.Redact, window: &v.window,
		stream: st, sent: func() segment.Point { return v.sentLog(st) },
	}
}

// anew scans a log as the next generation of its stream, with all it holds.
func (v *sessionSync) anew(ctx context.Context, kind segment.Kind, name string, own *replica.OwnLog) (*history, error) {
	*own = replica.OwnLog{Generation: own.Generation + 1}
	h, err := v.logSource(kind, name, own).scan(ctx, nil, true)
	if err == nil {
		own.File = &h.Followed
	}
	return h, err
}
