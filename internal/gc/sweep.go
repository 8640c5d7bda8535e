package gc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/jitter"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// # Sweep
//
// A sweep follows a session that was written anew, see package resync. It waits for no
// age, and keeps less than a prune: a segment stays only when it ends at a place that
// the head, or what the head leads to, goes through. All lines of such a segment are
// lines of that history. A longer one, of which a history uses the beginning, may hold
// others. The requests are those of a prune: each removal is bound to the version of
// the head by which it was decided, for the reasons 2 and 3 of the package's doc. A reader
// that misses something reads the head again, and follows the one that there is.

// Sweep removes all documents of a session that its head does not lead to, whatever
// their age. It removes nothing, and the error Is [remote.ErrDamaged], where a history
// cannot be read by what would stay.
func Sweep(ctx context.Context, s *Session) error {
	p := &pruner{s: s, lists: s.Reader.Lists(s.SID)}
	for try := 1; ; try++ {
		err := p.sweep(ctx)
		if p.outdated(ctx, err) {
			err = fmt.Errorf("%w: %w", cosmos.ErrLost, err)
		}
		if !errors.Is(err, cosmos.ErrLost) {
			return err
		}
		if try == maxRounds {
			return fmt.Errorf("%w: %w", cosmos.ErrContended, err)
		}
		if err := jitter.Pause(ctx, s.Random.Wait(jitter.FirstBackoff/8<<try), nil); err != nil {
			return err
		}
	}
}

// ReadForSweep reads what [Sweep] reads before it removes anything, for plans.
func ReadForSweep(ctx context.Context, s *Session) error {
	_, err := (&pruner{s: s, lists: s.Reader.Lists(s.SID)}).listForSweep(ctx)
	return err
}

// listForSweep takes the inventory of a session; nil when there is no head to follow.
func (p *pruner) listForSweep(ctx context.Context) (*inventory, error) {
	if err := p.readHead(ctx); err != nil || p.head == nil || p.head.Deleted {
		return nil, err
	}
	return p.list(ctx)
}

func (p *pruner) sweep(ctx context.Context) error {
	i, err := p.listForSweep(ctx)
	if err != nil || i == nil {
		return err
	}
	defer p.noteHead()
	garbage, err := i.swept()
	if err != nil {
		return err
	}
	return p.remove(ctx, garbage)
}

// swept returns the documents that a sweep removes: segments first, then what they name.
func (i *inventory) swept() (garbage []*document, err error) {
	i.branches = slices.DeleteFunc(slices.Clone(i.branches), func(b *head.Head) bool { return !i.staysBranch(b) })
	ends := i.ends()
	exact := map[segment.Stream][]segment.Info{}
	for st, infos := range i.segments {
		exact[st] = ending(infos, ends[st])
	}
	i.segments = exact
	live := &liveSet{segments: map[string]bool{}, spans: map[segment.Stream][]segment.Span{}, broken: map[segment.Stream]bool{}}
	for st, points := range ends {
		for _, p := range points {
			live.add(i, st, p)
		}
	}
	if live.damage != nil {
		return nil, live.damage
	}
	chunks, stays := map[string]bool{}, map[string]bool{}
	i.addFiles(chunks)
	for _, b := range i.branches {
		stays[segment.BranchID(i.sid, b.Transcript.Point())] = true
	}
	for _, infos := range exact {
		for _, in := range infos {
			stays[in.ID] = true
		}
	}
	var rest []*document
	for _, d := range i.docs {
		if d.Type == segment.TypeSegment && stays[d.ID] {
			for _, id := range d.chunks(i.sid) {
				chunks[id] = true
			}
		}
	}
	for _, d := range i.docs {
		switch d.Type {
		case segment.TypeSegment:
			if !stays[d.ID] {
				garbage = append(garbage, d)
			}
		case segment.TypeChunk:
			if !chunks[d.ID] {
				rest = append(rest, d)
			}
		case head.TypeMore:
			if !i.lists[d.ID] {
				rest = append(rest, d)
			}
		case head.TypeBranch:
			if !stays[d.ID] {
				rest = append(rest, d)
			}
		}
	}
	return append(garbage, rest...), nil
}

// staysBranch reports whether a branch stays: the head lists it, or its lines went
// through the rules by which the session was written anew.
func (i *inventory) staysBranch(b *head.Head) bool {
	id := segment.BranchID(i.sid, b.Transcript.Point())
	listed := slices.ContainsFunc(i.listed, func(l head.Branch) bool { return l.ID == id })
	return listed || b.Transcript.Through(i.head.Anew.Rules)
}

// ends returns where the histories of each stream end that somebody is led to.
func (i *inventory) ends() map[segment.Stream][]segment.Point {
	main := []segment.Point{i.head.Transcript.Point()}
	for _, o := range i.former {
		main = append(main, o.Point)
	}
	for _, b := range i.listed {
		main = append(main, b.Tip)
	}
	for _, b := range i.branches {
		main = append(main, b.Transcript.Point())
	}
	ends := map[segment.Stream][]segment.Point{segment.Transcript: main}
	for st, r := range i.head.Logs {
		ends[st] = []segment.Point{r.Point()}
	}
	return ends
}

// ending returns the segments that end at one of some places, or where another one of
// them begins.
func ending(infos []segment.Info, ends []segment.Point) (exact []segment.Info) {
	at := map[segment.Point]bool{}
	for _, p := range ends {
		at[p] = true
	}
	sorted := slices.SortedFunc(slices.Values(infos), func(a, b segment.Info) int { return int(b.To.N - a.To.N) })
	for _, in := range sorted {
		if at[in.To] {
			at[in.From] = true
			exact = append(exact, in)
		}
	}
	return exact
}
