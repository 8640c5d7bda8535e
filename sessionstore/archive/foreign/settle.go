package foreign

import (
	"context"
	"errors"
	"slices"
)

// settle returns the file whose sessions are to be brought up to date: that of top, or
// the one that the store keeps, where that has all records of it. Where each has records
// that the other one lacks, settle first completes the sessions of the one that is kept,
// which an import that was killed may have left out.
func (ld *lander) settle(ctx context.Context, top target, prepare func(*history) (target, error)) (h *history, leave func(), err error) {
	h, leave = top.history, func() {}
	first := top
	if len(h.targets) > 0 {
		first = h.targets[0]
	}
	holder := first.id
	for n := 1; ld.has(divergedID(first, n)); n++ {
		holder = divergedID(first, n)
	}
	if !ld.has(holder) {
		return h, leave, nil
	}
	md, err := ld.st.Metadata(ctx, holder)
	if err != nil {
		return h, leave, err
	}
	s := stateOf(md)
	if s.SHA256 == h.hash() {
		return h, leave, nil
	}
	rel, err := h.relate(ctx, ld.kept(holder))
	if err != nil || rel != within && rel != parted {
		return h, leave, err
	}
	kept, leaveKept, err := openKept(ctx, ld.kept(holder), h.tool, h.id)
	if err != nil {
		return h, leave, err
	}
	kept.path = h.path // which names a sub-agent
	if _, err := prepare(kept); err != nil {
		leaveKept()
		return h, leave, err
	}
	if rel == within {
		kept.report = h.report
		return kept, leaveKept, nil
	}
	defer leaveKept()
	if err := kept.report.landAll(ctx, ld, kept); err != nil {
		return h, leave, err
	}
	for _, done := range kept.report.Sessions {
		if done.Action == Created {
			h.report.Sessions = append(h.report.Sessions, done)
		}
	}
	return h, leave, nil
}

// hasThread reports whether the session of a thread has all of a file that is a part of
// it, and whose beginning is missing.
func (ld *lander) hasThread(ctx context.Context, f *history, h History) (bool, error) {
	id := uuid5(h.Tool, h.threadID)
	if h.threadID == "" || !ld.has(id) {
		return false, nil
	}
	rel, err := f.relate(ctx, ld.kept(id))
	if rel != within || err != nil {
		return false, err
	}
	f.report.Sessions = append(f.report.Sessions, Imported{id, Conversation, Unchanged, 0})
	return true, nil
}

// landAll brings the sessions of a file into the store. That of the conversation comes
// last where it is there: then what leaves it is in another one before.
func (r *Report) landAll(ctx context.Context, ld *lander, h *history) (failed error) {
	all, before := slices.Clone(h.targets), len(r.Sessions)
	last := len(all) > 1 && ld.has(all[0].id)
	if last {
		all = append(all[1:], all[0])
	}
	var done []Imported
	for _, tg := range all {
		one, err := Imported{}, ld.keep(h, all[0].id)
		if err == nil {
			one, err = ld.land(ctx, tg)
		}
		if err != nil {
			if failed = errors.Join(failed, err); ctx.Err() != nil {
				break
			}
			continue
		}
		if last && tg.id == h.targets[0].id {
			done = append([]Imported{one}, done...)
			continue
		}
		done = append(done, one)
	}
	r.Sessions = slices.Insert(r.Sessions, before, done...)
	return failed
}
