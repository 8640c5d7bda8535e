package foreign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// loses reports whether a record that became a message of the target's session would be
// in no session of the file any more: it is not in the file, or on none of the lines that
// become sessions. A prompt without an answer, which the file has, is no loss.
func (ld *lander) loses(ctx context.Context, tg target, p *plan, rel relation) (bool, error) {
	if rel == parted {
		return true, nil
	}
	if p.extends {
		return false, nil
	}
	if rel == unkept && tg.original { // nothing tells which records it had
		return true, nil
	}
	missing, gone, err := ld.missing(ctx, tg, p.r, rel)
	if err != nil || gone {
		return gone, err
	}
	for _, other := range tg.targets {
		if len(missing) == 0 {
			return false, nil
		}
		if other.id == tg.id {
			continue
		}
		r, err := other.render(newReport(), func(sessionstore.Message) error { return nil })
		if err != nil {
			return false, err
		}
		missing = slices.DeleteFunc(missing, r.took)
	}
	return len(missing) > 0, nil
}

// missing returns the records that became messages of the target's session and are in
// none of the rendering. gone tells that one of them is not in the file.
func (ld *lander) missing(ctx context.Context, tg target, r *rendering, rel relation) (missing []int32, gone bool, err error) {
	dir := ld.kept(tg.id, tg.place())
	lines, err := mappedLines(filepath.Join(dir, mapFile))
	if err != nil {
		return nil, false, err
	}
	var kept *table
	if rel == wider {
		k, leave, err := openKept(ctx, dir, tg.tool, tg.history.id)
		if err != nil {
			return nil, false, err
		}
		defer leave()
		kept = k.t
	}
	for _, l := range lines {
		at := int32(-1)
		switch {
		case rel == grown:
			if at = tg.t.recordAt(l.line); at >= 0 && tg.t.records.at(at).is(isRepeated) {
				at = tg.t.find(tg.t.records.at(at).uuid) // a copy has it
			}
		case kept != nil:
			if was := kept.recordAt(l.line); was >= 0 {
				if tg.tool == Codex && !kept.records.at(was).saysCodex() {
					continue // the tool wrote it anew, or not any more
				}
				l.uuid = kept.records.at(was).uuid
			}
			fallthrough
		case l.uuid != 0:
			at = tg.t.find(l.uuid)
		default: // an older import did not note which record it was
			continue
		}
		switch {
		case at < 0:
			return nil, true, nil
		case !r.took(at) && !tg.t.records.at(at).is(isTakenBack|isThought|isSummary|isCopied|isCompacted):
			missing = append(missing, at)
		}
	}
	return missing, false, nil
}

// took reports whether a part of the line of a record was rendered.
func (r *rendering) took(at int32) bool {
	for line := r.t.line(at); int(at) < len(r.numbers) && r.t.line(at) == line; at++ {
		if r.numbers[at] != 0 {
			return true
		}
	}
	return false
}

// former makes a fork of what the session of the target holds, before the target takes
// its place. The fork keeps what the session kept of the tool's file. Its id follows from
// the session's and from what it holds, so that an import that was killed makes no second
// one.
func (ld *lander) former(ctx context.Context, tg target, md sessionstore.Metadata, has sessionstore.Revision) error {
	id := uuid5(tg.tool, tg.id+"/former/"+revisionText(has))
	shared, own, err := ld.sharedTurns(ctx, tg)
	if err != nil {
		return err
	}
	s := stateIn(md, tg.place())
	done := Imported{id, Former, Created, has.Messages}
	if core.Of(ld.st).Has(id) {
		done.Action = Unchanged
	} else if !ld.dry {
		if err := ld.fork(ctx, tg, id, shared, own, md, has); err != nil {
			return fmt.Errorf("keep what the tool no longer has in session %q: %w", id, err)
		}
	}
	tg.report.Sessions = append(tg.report.Sessions, done)
	tg.report.Former[id] = max(0, s.Turns-shared)
	return nil
}

// sharedTurns counts the prompts that the session of a target begins with and that the
// target has, too. own is the first line of the prompt behind them.
func (ld *lander) sharedTurns(ctx context.Context, tg target) (n int, own string, err error) {
	next, stop := iter.Pull2(ld.st.Messages(ctx, tg.id))
	defer stop()
	var ours sessionstore.Message
	ok := false
	isPrompt := func() bool { return ours.Role() == "user" && !strings.HasPrefix(ours.Content(), "<system-reminder>") }
	_, err = tg.render(newReport(), func(m sessionstore.Message) error {
		if ours, err, ok = next(); err != nil {
			return err
		}
		if !ok || m.Role() != ours.Role() || m.Content() != ours.Content() { // lines may have other numbers
			return errDiffers
		}
		if isPrompt() {
			n++
		}
		return nil
	})
	if err != nil && !errors.Is(err, errDiffers) {
		return 0, "", err
	}
	if err == nil {
		ours, err, ok = next()
	}
	for ; ok && own == ""; ours, err, ok = next() {
		if isPrompt() {
			own = firstOf(titleIn(ours.Content()))
		}
	}
	return n, own, nil
}

// fork makes a session of what the session of a target holds.
func (ld *lander) fork(ctx context.Context, tg target, id string, shared int, own string, md sessionstore.Metadata, has sessionstore.Revision) error {
	md, err := formerMetadata(md, tg, id, shared, own, has)
	if err != nil {
		return err
	}
	return core.Of(ld.st).Make(ctx, id, func(tx core.Tx) error {
		f := files{tx, core.Of(ld.st), folder}
		err := f.replace(tx.Dir().Dir, sessiondir.Transcript, func(w io.Writer) error {
			c := newTally()
			for m, err := range ld.st.Messages(ctx, tg.id) {
				if err != nil {
					return err
				}
				if _, err := w.Write(c.add(m)); err != nil {
					return err
				}
			}
			if c.revision() != has {
				return sessionstore.ErrConflict
			}
			return nil
		})
		if err != nil {
			return err
		}
		tx.Renamed(sessiondir.Transcript)
		if is, _, err := core.Of(ld.st).Stat(tg.id, sessiondir.Transcript); err == nil { // lists show the fork by it
			if err := tx.Dir().SetTime(sessiondir.Transcript, is.Mtime); err != nil {
				return fmt.Errorf("set the time of the transcript: %w", err)
			}
		}
		for _, name := range []string{originalFile, mapFile} {
			if err := f.copy(ctx, filepath.Join(ld.kept(tg.id, tg.place()), name), name); err != nil {
				return err
			}
		}
		return tx.SetMetadata(md)
	})
}

// formerMetadata returns the metadata of a fork of a session that has the metadata md.
func formerMetadata(md sessionstore.Metadata, tg target, id string, shared int, own string, has sessionstore.Revision) (sessionstore.Metadata, error) {
	s := stateIn(md, tg.place())
	md.Delete(tg.place())
	s.Transcript, s.Pending = revisionText(has), ""
	created, ok := md.Lookup("created")
	if !ok {
		created = []byte("null")
	}
	const note = " (no longer in the other tool)"
	name := cmp.Or(md.Text("name"), own, "Imported")
	for utf8.RuneCountInString(name+note) > maxName {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	members := []assignment{
		{"session_id", id},
		{"parent_id", tg.id},
		{"forked_from_turn", shared},
		{"forked_at", json.RawMessage(created)},
		{"name", name + note},
		{member, s},
	}
	for _, a := range members {
		if err := md.Set(a.name, a.value); err != nil {
			return md, fmt.Errorf("set %s: %w", a.name, err)
		}
	}
	return md, nil
}
