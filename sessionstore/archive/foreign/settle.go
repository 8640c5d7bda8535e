package foreign

import (
	"context"
	"errors"
	"slices"
)

// settle returns the file whose sessions are to be brought up to date: that of top, or
// the one that the store keeps, where that has all records of it.
func (ld *lander) settle(ctx context.Context, top target, prepare func(*history) (target, error)) (h *history, leave func(), err error) {
	h, leave = top.history, func() {}
	first := top
	if len(h.targets) > 0 {
		first = h.targets[0]
	}
	holder, place := first.id, first.place()
	for n := 1; ld.has(divergedID(first, n)); n++ {
		holder, place = divergedID(first, n), folder
	}
	if !ld.has(holder) {
		return h, leave, nil
	}
	md, err := ld.st.Metadata(ctx, holder)
	if err != nil {
		return h, leave, err
	}
	if s := stateIn(md, place); s.SHA256 == h.hash() && s.Pending == "" {
		return h, leave, nil
	}
	rel, err := h.relate(ctx, ld.kept(holder, place))
	if err != nil || rel != within {
		return h, leave, err
	}
	kept, leaveKept, err := openKept(ctx, ld.kept(holder, place), h.tool, h.id)
	if err != nil {
		return h, leave, err
	}
	kept.path = h.path // which names a sub-agent
	if _, err := prepare(kept); err != nil {
		leaveKept()
		return h, leave, err
	}
	h.report.Lines += kept.t.linesRead - h.t.linesRead // it is read in the place of the file
	kept.report = h.report
	return kept, leaveKept, nil
}

// hasThread reports whether a session of a thread has all of a file that is a part of it,
// and whose beginning is missing: that of the thread, or a fork of what it lost.
func (ld *lander) hasThread(ctx context.Context, f *history, h History) (bool, error) {
	if h.threadID == "" || ld.st == nil {
		return false, nil
	}
	all, err := ld.st.List(ctx, nil)
	if err != nil {
		return false, err
	}
	for _, s := range all {
		rel := unkept
		md, err := ld.st.Metadata(ctx, s.ID) // what cannot be read has nothing
		for _, place := range places {
			if st := stateIn(md, place); err == nil && rel != within && st.Tool == string(h.Tool) && st.ID == h.threadID {
				rel, err = f.relate(ctx, ld.kept(s.ID, place))
			}
		}
		if ctx.Err() != nil {
			return false, err
		}
		if rel == within {
			f.report.Sessions = append(f.report.Sessions, Imported{s.ID, Conversation, Unchanged, 0})
			return true, nil
		}
	}
	return false, nil
}

// landAll brings the sessions of a file into the store. That of the conversation comes
// last: then what leaves it is in another one before, and a killed import left none out.
func (r *Report) landAll(ctx context.Context, ld *lander, h *history) (failed error) {
	before := len(r.Sessions)
	var done []Imported
	for i := range h.targets {
		tg := h.targets[(i+1)%len(h.targets)]
		err := ld.keep(h, h.targets[0])
		if err == nil {
			var one Imported
			if one, err = ld.land(ctx, tg); err == nil {
				done = append(done, one)
			}
		}
		if failed = errors.Join(failed, err); ctx.Err() != nil {
			break
		}
	}
	if n := len(done); n > 1 && len(h.targets) == n { // that of the conversation stands first
		done = append(done[n-1:], done[:n-1]...)
	}
	r.Sessions = slices.Insert(r.Sessions, before, done...)
	return failed
}
