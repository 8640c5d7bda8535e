package hybrid

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// heldFile is the name under which another device's log lies in the
// bookkeeping.
func heldFile(sid string, st segment.Stream) string { return sid + "." + string(st) + ".jsonl" }

// fetchLogs brings the logs of other devices up to date that lie in the
// bookkeeping.
func (v *visit) fetchLogs(ctx context.Context, except map[segment.Stream]bool) error {
	for _, st := range slices.Sorted(maps.Keys(v.tip.Logs)) {
		r := v.tip.Logs[st]
		if except[st] || v.isOwn(st) || v.isAdopted(st) {
			continue
		}
		if err := v.fetchLog(ctx, st, r); err != nil {
			return err
		}
	}
	return nil
}

// isOwn reports whether a stream is the one that a log here continues.
func (v *visit) isOwn(st segment.Stream) bool {
	for _, l := range v.logs {
		if l.stream == st {
			return true
		}
	}
	return false
}

func (v *visit) isAdopted(st segment.Stream) bool {
	own := v.st.Logs[st.Kind().String()]
	return own != nil && own.From == st && own.FromPoint == v.tip.Logs[st].Point()
}

// holdsLogs reports whether the logs of a tip are here, beside those that the
// device writes itself.
func (s *state) holdsLogs(t *tip.Tip, device string) bool {
	for st, r := range t.Logs {
		own := s.Logs[st.Kind().String()]
		if s.Held[st].Point == r.Point() || own != nil && (own.From == st && own.FromPoint == r.Point() || st == segment.LogStream(st.Kind(), device, own.Generation)) {
			continue
		}
		return false
	}
	return true
}

func (v *visit) fetchLog(ctx context.Context, st segment.Stream, r tip.Reach) error {
	held, known := v.st.Held[st]
	if known && held.Point == r.Point() {
		return nil
	}
	if !known {
		held = heldAt{Point: segment.Origin(st)}
	}
	name := heldFile(v.sid, st)
	var size int64
	fetch := func(from heldAt) error {
		infos, err := v.link.segments(ctx, v.tip, st, r.Buckets, 0) // differences lead far back
		if err != nil {
			return err
		}
		return v.states.fill(name, func(w io.Writer) error {
			count := &counter{w: w}
			if err := v.states.copyTo(count, name, from.Size); err != nil {
				return err
			}
			err := writeLines(count, v.link.lines(ctx, st, infos, from.Point, r.Point(), nil))
			size = count.n
			return err
		})
	}
	err := fetch(held)
	if err != nil && held.Point.N > 0 && ctx.Err() == nil { // the file or its end is not what it was
		err = fetch(heldAt{Point: segment.Origin(st)})
	}
	if err != nil {
		return fmt.Errorf("fetch log %s: %w", st, err)
	}
	if v.st.Held == nil {
		v.st.Held = map[segment.Stream]heldAt{}
	}
	v.st.Held[st] = heldAt{Point: r.Point(), Size: size}
	return nil
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// takenLogs are the logs that a restored session gets as its files, by the
// names of these.
type takenLogs map[string]takenLog

type takenLog struct {
	kind   segment.Kind
	stream segment.Stream
	point  segment.Point
	size   int64
}

func (t takenLogs) streams() map[segment.Stream]bool {
	all := map[segment.Stream]bool{}
	for _, l := range t {
		all[l.stream] = true
	}
	return all
}

// chooseLogs fetches the longest log of each kind.
func (v *visit) chooseLogs(ctx context.Context) (takenLogs, error) {
	taken := takenLogs{}
	for _, l := range logNames {
		var longest segment.Stream
		for st, r := range v.tip.Logs {
			best := v.tip.Logs[longest]
			if st.Kind() == l.kind && (r.Bytes > best.Bytes || r.Bytes == best.Bytes && (longest == "" || st < longest)) {
				longest = st
			}
		}
		r, ok := v.tip.Logs[longest]
		if !ok || r.N == 0 {
			continue
		}
		if err := v.fetchLog(ctx, longest, r); err != nil {
			return nil, err
		}
		taken[l.name] = takenLog{kind: l.kind, stream: longest, point: r.Point(), size: v.st.Held[longest].Size}
	}
	return taken, nil
}

// adoptLogs notes where the own logs of a restored session begin: behind what
// came from another device; its own latest generation goes on.
func (v *visit) adoptLogs(taken takenLogs) {
	v.st.Logs = nil
	for _, t := range taken {
		own := &ownLog{Generation: 1, Adopted: t.size, From: t.stream, FromPoint: t.point}
		for st := range v.tip.Logs {
			if st.Kind() == t.kind && st.Device() == v.dev.id {
				own.Generation = max(own.Generation, st.Generation()+1)
			}
		}
		if t.stream.Device() == v.dev.id {
			own = &ownLog{Generation: t.stream.Generation()}
		}
		v.keepLog(t.kind, own)
	}
}
