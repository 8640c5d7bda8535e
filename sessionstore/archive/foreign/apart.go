package foreign

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// A session and the file of its tool may go on apart: the session here, or the file loses
// records that became messages. The session keeps its words, and what the tool has becomes
// a fork of it.

// divergedID returns the id of the nth fork of what a tool has apart from a session.
func divergedID(tool, id string, n int) string {
	return thread.UUID5(tool, id+"/diverged/"+strconv.Itoa(n))
}

// lastApart returns the id of the last of these forks that is there, "" for none.
func lastApart(has func(id string) bool, tool, id string) (last string) {
	for n := 1; ; n++ {
		next := divergedID(tool, id, n)
		if !has(next) {
			return last
		}
		last = next
	}
}

// Apart returns the ids of the sessions that have what a tool has now, where the tool went
// on apart from the session id: one for each such tool, by the name of the tool.
func Apart(st *sessionstore.Store, id string) map[Tool]string {
	all := map[Tool]string{}
	for tool := range programs {
		if last := lastApart(st.Exists, tool, id); last != "" {
			all[Tool(tool)] = last
		}
	}
	return all
}

// loses reports whether a record that became a message of the target's session would be
// in no session of the file any more: it is not in the file, or on none of the lines that
// become sessions. A prompt without an answer, which the file has, is no loss.
func (ld *lander) loses(ctx context.Context, tg target, all []target, r *thread.Rendering, rel relation) (bool, error) {
	missing, gone, err := ld.missing(ctx, tg, r, rel)
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
		p, err := other.write(ctx, io.Discard, sessionstore.Revision{})
		if err != nil {
			return false, err
		}
		missing = slices.DeleteFunc(missing, p.r.Took)
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
	var k *thread.File
	var says map[uint64]int32 // the records of the file by what they say, once one is not found by its hash
	if rel == wider {
		var leave func()
		if k, leave, err = openKept(ctx, dir, tg.file.Tool, tg.file.ID); err != nil {
			return nil, false, err
		}
		defer leave()
	}
	for _, l := range lines {
		if r.IsFromHere(l.message) { // the line that an export made of the message stands for the tool's own
			continue
		}
		at := int32(-1)
		switch {
		case rel == grown:
			if at = tg.file.Table.RecordAt(l.line); at >= 0 && tg.file.Table.Records.At(at).Is(thread.IsRepeated) {
				at = tg.file.Table.Find(tg.file.Table.Records.At(at).UUID) // a copy has it
			}
		case k != nil:
			was := k.Table.RecordAt(l.line)
			if was >= 0 {
				if !tg.file.Tool.IsCompared(*k.Table.Records.At(was)) {
					continue // the tool wrote it anew, or not any more
				}
				l.uuid = k.Table.Records.At(was).UUID
			}
			if at = tg.file.Table.Find(l.uuid); at < 0 && was >= 0 {
				if says == nil {
					says = tg.file.BySays()
				}
				if said, err := k.Says(was); err == nil {
					at = says[said] - 1
				}
			}
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

// sharedTurns counts the prompts that the session of a target begins with and that the
// target has, too.
func (ld *lander) sharedTurns(ctx context.Context, tg target) (n int, err error) {
	c, err := tg.compare(ctx, ld.st, tg.id, func(m, ours sessionstore.Message) bool { // lines may have other numbers
		same := m.Role() == ours.Role() && m.Content() == ours.Content()
		if same && ours.Role() == "user" && !strings.HasPrefix(ours.Content(), "<system-reminder>") {
			n++
		}
		return same
	})
	c.stop()
	return n, err
}
