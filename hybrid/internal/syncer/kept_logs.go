package syncer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/jsonl"
)

// # Logs of other devices in a session that is sent anew
//
// Their lines lie in the bookkeeping in the forms in which they were sent. They are stored
// under the names of their streams, as today's rules have these forms. Their owners go on
// behind them; see reborn.go.

// keepLogs brings all logs into the bookkeeping, whole, that the files here do not hold.
func (v *work) keepLogs(ctx context.Context) (map[segment.Stream]replica.CachedLog, error) {
	kept := map[segment.Stream]replica.CachedLog{}
	for _, st := range slices.Sorted(maps.Keys(v.cloud.head.Logs)) {
		r := v.cloud.head.Logs[st]
		own := v.local.ownLog(st)
		if own != nil {
			if has, err := own.Has(ctx, r.Point()); has || err != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
		} else if !v.cloud.isAdopted(st) {
			if err := v.fetchLog(ctx, st, r); err != nil {
				return nil, err
			}
		}
		held, cached := v.st.Cached[st]
		if !cached || held.From > 0 || held.Point != r.Point() {
			var err error
			if held, err = v.cloud.fetchWhole(ctx, st, r); err != nil {
				return nil, fmt.Errorf("fetch log %s: %w", st, err)
			}
		}
		if kept[st] = held; cached {
			v.st.Cached[st] = held // the file holds all of it now
		}
	}
	return kept, nil
}

// pushKept stores the logs that lie in the bookkeeping, as far as the cloud lacks them.
func (v *work) pushKept(ctx context.Context, next *head.Head, uploads *uploader) (changed bool, err error) {
	in := v.st.Anew
	if in == nil || v.cloud.head != nil && v.cloud.head.Born == in.Born {
		return false, nil
	}
	for _, st := range slices.Sorted(maps.Keys(in.Logs)) {
		held := in.Logs[st]
		to, from, err := v.keptFrom(ctx, next, st, held)
		if err != nil {
			return changed, err
		}
		if from.N == held.Point.N {
			continue
		}
		c := segment.NewCutter(v.cloud.cut(held.Size), segment.From{Stream: to, Mark: from})
		if err := uploads.take(ctx, c.Documents(v.keptLines(ctx, st, held, from.N))); err != nil {
			return changed, err
		}
		next.Logs[to] = head.ExtentOf(c.At().Mark).Ruled(next.RulesOf(to), from.N, v.redaction())
		if own := v.st.Logs[st.Kind().String()]; own != nil && own.From == st && own.FromPoint == held.Point {
			own.FromPoint = next.Logs[to].Point()
		}
		changed = true
	}
	return changed, nil
}

// keptFrom returns the stream that a log is stored as, and the place from which the cloud
// lacks it: where its lines are others there, the next generation has it, unless there are
// at least as many.
func (v *work) keptFrom(ctx context.Context, next *head.Head, st segment.Stream, held replica.CachedLog) (to segment.Stream, from segment.Mark, err error) {
	r := next.Logs[st]
	if r.N >= held.Point.N {
		return st, segment.Mark{N: held.Point.N}, nil
	}
	t := segment.NewTracker(st, nil, []segment.Mark{segment.Begin(st)})
	for line, err := range v.keptLines(ctx, st, held, 0) {
		if t.Mark().N == r.N {
			break
		}
		if err != nil {
			return st, from, err
		}
		t.Add(line, line)
	}
	if t.Mark().Point() == r.Point() || r.N == 0 {
		return st, t.Mark(), nil
	}
	for g := st.Generation(); next.Logs[st].N > 0; g++ {
		st = segment.LogStream(st.Kind(), st.Device(), g)
	}
	return st, segment.Begin(st), nil
}

// keptLines yields the lines of a log in the bookkeeping behind line n, as today's rules
// let what was sent be.
func (s *session) keptLines(ctx context.Context, st segment.Stream, held replica.CachedLog, n int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := s.States.Open(replica.LogFile(s.sid, st))
		if err != nil {
			yield(nil, err)
			return
		}
		rules, left := track.Source{Redact: s.Privacy.Redact}, held.Point.N
		w, part := track.Window{}, io.NewSectionReader(f, 0, held.Size)
		for offset := int64(0); ; {
			data, _, err := w.Lines(ctx, part, offset)
			if err == nil && len(data) == 0 && left > 0 {
				err = fmt.Errorf("%s: %w", st, io.ErrUnexpectedEOF)
			}
			if len(data) == 0 {
				if err = errors.Join(err, f.Close()); err != nil {
					yield(nil, err)
				}
				return
			}
			for line := range jsonl.Lines(data) {
				left--
				if n--; n < 0 && !yield(rules.Today(line.Bytes), nil) {
					_ = f.Close() // it was only read
					return
				}
			}
			offset += int64(len(data))
		}
	}
}
