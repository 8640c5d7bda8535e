package syncer

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// fetchLogs brings the logs of other devices up to date that lie in the
// bookkeeping.
func (v *work) fetchLogs(ctx context.Context, except map[segment.Stream]bool) error {
	for _, st := range slices.Sorted(maps.Keys(v.cloud.head.Logs)) {
		r := v.cloud.head.Logs[st]
		if except[st] || v.local.isOwn(st) || v.cloud.isAdopted(st) {
			continue
		}
		if err := v.cloud.lack(logName(st), v.fetchLog(ctx, st, r)); err != nil {
			return err
		}
	}
	return nil
}

// isOwn reports whether a stream is the one that a log here continues.
func (l *local) isOwn(st segment.Stream) bool { return l.ownLog(st) != nil }

func (c *cloud) isAdopted(st segment.Stream) bool {
	own := c.st.Logs[st.Kind().String()]
	return own != nil && own.From == st && own.FromPoint == c.head.Logs[st].Point()
}

// chosenLogs are the logs that a restored session gets as its files, by the
// names of these.
type chosenLogs map[string]chosenLog

type chosenLog struct {
	kind   segment.Kind
	stream segment.Stream
	point  segment.Point
	size   int64
}

func (t chosenLogs) streams() map[segment.Stream]bool {
	all := map[segment.Stream]bool{}
	for _, l := range t {
		all[l.stream] = true
	}
	return all
}

// chooseLogs fetches the longest log of each kind; where that is damaged, the
// longest that is not.
func (v *work) chooseLogs(ctx context.Context) (chosenLogs, error) {
	taken := chosenLogs{}
	for _, l := range logNames {
		for _, st := range v.cloud.longest(l.kind) {
			r := v.cloud.head.Logs[st]
			err := v.fetchLog(ctx, st, r)
			if err == nil {
				taken[l.name] = chosenLog{kind: l.kind, stream: st, point: r.Point(), size: v.st.Cached[st].Size}
				break
			}
			if err := v.cloud.lack(l.name, err); err != nil {
				return nil, err
			}
		}
	}
	return taken, nil
}

// longest returns the logs of a kind that are not empty, the longest first.
func (c *cloud) longest(kind segment.Kind) (all []segment.Stream) {
	for st, r := range c.head.Logs {
		if st.Kind() == kind && r.N > 0 {
			all = append(all, st)
		}
	}
	slices.SortFunc(all, func(a, b segment.Stream) int {
		return cmp.Or(cmp.Compare(c.head.Logs[b].Bytes, c.head.Logs[a].Bytes), cmp.Compare(a, b))
	})
	return all
}

// adoptLogs notes where the own logs of a restored session begin: behind what
// came from another device; its own latest generation goes on.
func (c *cloud) adoptLogs(taken chosenLogs) {
	c.st.Logs = nil
	for _, t := range taken {
		own := &replica.OwnLog{Generation: 1, Inherited: t.size, From: t.stream, FromPoint: t.point}
		for st := range c.head.Logs {
			if st.Kind() == t.kind && st.Device() == c.Device.ID {
				own.Generation = max(own.Generation, st.Generation()+1)
			}
		}
		if t.stream.Device() == c.Device.ID {
			own = &replica.OwnLog{Generation: t.stream.Generation()}
		}
		c.keepLog(t.kind, own)
	}
}
