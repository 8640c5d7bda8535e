package hybrid

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// DeviceLog is a log of a session as one device wrote it. Each device has its
// own, so a session that went from one to another has several; together and
// in the order of their times they are what happened.
type DeviceLog struct {
	Name   string // of the file, as events.jsonl
	Device string // that wrote it; "" for the file in the session's directory
	Path   string // of the lines on this machine; not to be written
}

// Logs returns where the logs of a session lie on this machine: those in its
// directory first, then those of other devices, as the last [Store.Pull]
// brought them. Where the file in the directory begins with another device's log,
// that device's holds only what follows. It makes no request.
func (s *Store) Logs(ctx context.Context, id string) ([]DeviceLog, error) {
	if s.engine == nil {
		return nil, wrap("list logs", id, ErrNoRemote)
	}
	found, err := s.engine.Logs(ctx, id)
	if err != nil {
		return nil, wrap("list logs", id, err)
	}
	var all, cached []DeviceLog
	for _, l := range found {
		if l.File == "" {
			all = append(all, DeviceLog{Name: l.Name, Path: filepath.Join(s.Dir(), id, l.Name)})
			continue
		}
		path := filepath.Join(s.Dir(), sessiondir.Bookkeeping, statesDir, l.File)
		cached = append(cached, DeviceLog{Name: l.Name, Device: l.Device, Path: path})
	}
	slices.SortFunc(cached, func(a, b DeviceLog) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path)) })
	return append(all, cached...), nil
}
