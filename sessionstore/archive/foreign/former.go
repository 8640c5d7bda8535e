package foreign

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// loses reports whether a record that became a message of the target's session would be
// in no session of the file any more: it is not in the file, or on none of the lines that
// become sessions. A prompt without an answer, which the file has, is no loss.
func (ld *lander) loses(ctx context.Context, tg target, all []target, p *plan, rel relation) (bool, error) {
	if rel == parted {
		return true, nil
	}
	if p.extends {
		return false, nil
	}
	if rel == unkept && tg.original { // nothing says which records it had
		return true, nil
	}
	missing, gone, err := ld.missing(ctx, tg, p.r, rel)
	if err != nil || gone {
		return gone, err
	}
	for _, other := range all {
		if len(missing) == 0 {
			return false, nil
		}
		if other.id == tg.id {
			continue
		}
		r, err := other.render(thread.NewNotes(), func(sessionstore.Message) error { return nil })
		if err != nil {
			return false, err
		}
		missing = slices.DeleteFunc(missing, r.Took)
	}
	return len(missing) > 0, nil
}

// missing returns the records that became messages of the target's session and are in
// none of the rendering. gone says that one of them is not in the file.
func (ld *lander) missing(ctx context.Context, tg target, r *thread.Rendering, rel relation) (missing []int32, gone bool, err error) {
	dir := ld.kept(tg.id, tg.place())
	lines, err := mappedLines(ctx, dir)
	if err != nil {
		return nil, false, err
	}
	var kept *thread.Table
	if rel == wider {
		k, leave, err := openKept(ctx, dir, tg.file.Tool, tg.file.ID)
		if err != nil {
			return nil, false, err
		}
		defer leave()
		kept = k.Table
	}
	for _, l := range lines {
		at := int32(-1)
		switch {
		case rel == grown:
			if at = tg.file.Table.RecordAt(l.line); at >= 0 && tg.file.Table.Records.At(at).Is(thread.IsRepeated) {
				at = tg.file.Table.Find(tg.file.Table.Records.At(at).UUID) // a copy has it
			}
		case kept != nil:
			if was := kept.RecordAt(l.line); was >= 0 {
				if !tg.file.Tool.IsCompared(*kept.Records.At(was)) {
					continue // the tool wrote it anew, or not any more
				}
				l.uuid = kept.Records.At(was).UUID
			}
			fallthrough
		case l.uuid != 0:
			at = tg.file.Table.Find(l.uuid)
		default: // the map is damaged
			continue
		}
		switch {
		case at < 0:
			return nil, true, nil
		case !r.Took(at) && !tg.file.Table.Records.At(at).Is(thread.IsTakenBack|thread.IsThought|thread.IsSummary|thread.IsCopied|thread.IsCompacted):
			missing = append(missing, at)
		}
	}
	return missing, false, nil
}

// former makes a fork of the messages of the target's session, before the target replaces
// them. The fork keeps the session's copy of the tool's file. The id of the fork follows
// from the session's id and its transcript, so that the next import after a killed one
// makes no second fork.
func (ld *lander) former(ctx context.Context, tg target, md sessionstore.Metadata, has sessionstore.Revision) error {
	id := thread.UUID5(tg.file.Tool.Name(), tg.id+"/former/"+revisionText(has))
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
	ld.done.Sessions = append(ld.done.Sessions, done)
	ld.done.Former[id] = max(0, s.Turns-shared)
	return nil
}

// sharedTurns counts the prompts that the session of a target begins with and that the
// target has, too. own is the first line of the prompt behind them.
func (ld *lander) sharedTurns(ctx context.Context, tg target) (n int, own string, err error) {
	isPrompt := func(m sessionstore.Message) bool {
		return m.Role() == "user" && !strings.HasPrefix(m.Content(), "<system-reminder>")
	}
	c, err := tg.compare(ctx, ld.st, tg.id, func(m, ours sessionstore.Message) bool { // lines may have other numbers
		same, prompt := m.Role() == ours.Role() && m.Content() == ours.Content(), isPrompt(ours)
		switch {
		case same && prompt:
			n++
		case prompt:
			own = cmp.Or(thread.TitleIn(ours.Content()))
		}
		return same
	})
	defer c.stop()
	for err == nil && own == "" {
		m, failed, ok := c.next()
		if !ok || failed != nil {
			return n, "", failed
		}
		if isPrompt(m) {
			own = cmp.Or(thread.TitleIn(m.Content()))
		}
	}
	return n, own, err
}

// fork makes a session of the messages of a target's session.
func (ld *lander) fork(ctx context.Context, tg target, id string, shared int, own string, md sessionstore.Metadata, has sessionstore.Revision) error {
	md, err := formerMetadata(md, tg, id, shared, own, has)
	if err != nil {
		return err
	}
	return core.Of(ld.st).Make(ctx, id, func(tx core.Tx) error {
		f := files{tx, core.Of(ld.st), importFolder}
		err := f.first(func(w io.Writer) error {
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
	created, _ := md.Lookup("created") // null where there is none
	name := fitting(cmp.Or(md.Text("name"), own, "Imported"), " (no longer in the other tool)")
	err := assign(&md, []assignment{
		{"session_id", id},
		{"parent_id", tg.id},
		{"forked_from_turn", shared},
		{"forked_at", json.RawMessage(created)},
		{"name", name},
		{importFolder, s},
	}...)
	return md, err
}
