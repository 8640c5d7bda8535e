package foreign

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// A session that was exported may go on in the tool, and come back. The lines of an export
// tell which messages they were made of, so the import puts these in their place, and
// renders what the tool wrote.

// exportOf returns the tool's id of what Export makes of a session that is kept in dir, and
// where the session keeps what it has of the tool's file.
func exportOf(md sessionstore.Metadata, dir, session string, tool Tool) (id, place string) {
	place = folder + "_" + string(tool)
	if s := stateIn(md, place); s.ID != "" {
		return s.ID, place
	}
	id = session
	if !uuidForm.MatchString(id) {
		id = uuid5(tool, session)
	}
	s := stateOf(md)
	_, err := os.Lstat(filepath.Join(dir, folder, originalFile))
	if s.Tool != string(tool) || err != nil && uuid5(tool, s.ID) != session { // the fork of a branch is a session of its own
		return id, place
	}
	if uuidForm.MatchString(s.ID) {
		id = s.ID
	}
	return id, folder
}

// findHome finds the session that a file is an export of, and where it keeps the file. Where
// the tool forked that, it is the origin.
func (ld *lander) findHome(ctx context.Context, f *history, h History, named string) error {
	id := f.t.exported
	if id == "" || h.Parent != "" {
		return nil
	}
	slug, err := projectOf(ld.p, h, id, named)
	if err != nil {
		return err
	}
	st, err := storeOf(ctx, ld.p, slug, true)
	if err != nil || st == nil || !core.Of(st).Has(id) {
		return err
	}
	md, err := st.Metadata(ctx, id)
	if err != nil {
		return err
	}
	foreign, place := exportOf(md, filepath.Join(st.Dir(), id), id, h.Tool)
	if foreign != h.ID {
		ld.origin, ld.thread = id, foreign
		return nil
	}
	known := stateIn(md, place).ID
	if known != h.ID { // it came to another session before, as when this one was in the trash
		if slug, err := projectWith(ld.p, uuid5(h.Tool, h.ID)); err != nil || slug != "" {
			return err
		}
	}
	ld.home, ld.place, f.id = id, place, cmp.Or(known, f.id) // which Export changes where it is no UUID
	return nil
}

// isExport reports whether an export made all that is said in a line.
func (t *table) isExport(chain []int32) bool {
	return !slices.ContainsFunc(chain, func(at int32) bool { return t.records.at(at).talks() && !t.isMarked(at) })
}

// findParent finds the session that the tool forked one of, and where it leaves that.
func (ld *lander) findParent(ctx context.Context, top *target, h History) (err error) {
	path, th := "", top.t.thread
	switch {
	case ld.home != "":
		return nil
	case top.kind == Conversation && h.origin != nil:
		path = h.origin.Path
		top.parent, err = ld.sessionOf(h.Tool, h.origin.ID)
	case top.kind == Conversation && ld.origin != "":
		top.parent, path = ld.origin, filepath.Join(filepath.Dir(h.Path), ld.thread+historySuffix)
	case top.parent != "":
		top.parent, err = ld.sessionOf(h.Tool, cmp.Or(h.Parent, th.spawner, th.original))
	}
	if path == "" || ld.has(top.id) { // else it is known where it leaves its origin
		return err
	}
	if h.Tool == Claude {
		top.turn = top.copied(ctx, path, top.chain)
	}
	exported := 0
	for _, at := range top.chain {
		if top.t.records.at(at).is(isPerson) && top.t.isMarked(at) {
			exported++
		}
	}
	top.turn = max(top.turn, exported)
	return err
}

// sessionOf returns the id of the session that has the tool's one: which that came from, or
// that came from it.
func (ld *lander) sessionOf(tool Tool, id string) (string, error) {
	made := uuid5(tool, id)
	if !uuidForm.MatchString(id) {
		return made, nil
	}
	for _, known := range []string{made, id} {
		if slug, err := projectWith(ld.p, known); err != nil || slug != "" {
			return known, err
		}
	}
	return made, nil
}

// findHere compares the lines that an export made with what it makes now.
func (h *history) findHere(ctx context.Context, st *sessionstore.Store, id string) (*hereRows, error) {
	here := &hereRows{rows: st.Messages(ctx, id)}
	marks := slices.Clone(h.t.marks)
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.message, b.message) })
	var b bytes.Buffer
	in, out := newInput(h.file, h.size), newMaking(h.tool, "", id, sessionstore.Metadata{}, &b)
	n, first, before := int32(0), int32(1), 0
	goWith := func(lines []hereLine, last int32) { // what no line is made of goes with the message before
		for i := range lines {
			if lines[i].last > 0 {
				lines[i].last = last
			}
		}
	}
	for m, err := range here.rows {
		n++
		if err != nil {
			return nil, err
		}
		var want []uint64
		if errors.Join(out.message(m, int(n)), out.w.Flush()) != nil {
			want = append(want, 0) // no export has it
		}
		for row := range bytes.Lines(b.Bytes()) {
			want = append(want, h.lineSays(row))
		}
		b.Reset()
		if len(want) == 0 {
			continue
		}
		begin, same := len(here.lines), true
		for ; len(marks) > 0 && marks[0].message <= n; marks = marks[1:] {
			raw, err := in.line(h.t.records.at(marks[0].at).offset)
			if err != nil {
				return nil, err
			}
			line, i := hereLine{at: marks[0].at}, (len(here.lines)-begin)%len(want)
			if i == 0 {
				line.first, line.last = first, n
			}
			same = same && marks[0].message == n && h.lineSays(raw) == want[i]
			here.lines = append(here.lines, line)
		}
		if !same || (len(here.lines)-begin)%len(want) > 0 {
			here.lines = here.lines[:begin]
		}
		if len(here.lines) == begin {
			goWith(here.lines[before:], n-1)
		}
		first, before = n+1, begin
	}
	goWith(here.lines[before:], n)
	slices.SortFunc(here.lines, func(a, b hereLine) int { return cmp.Compare(a.at, b.at) })
	return here, nil
}

// lineSays returns a hash of what a line says, without its time.
func (h *history) lineSays(raw []byte) uint64 {
	if h.tool == Claude {
		l, _ := parseClaude(raw)
		return l.says()
	}
	l, _ := parseCodex(raw)
	return l.hash()
}

// copied counts the prompts of a chain that a file has, too: none where it cannot be read.
func (h *history) copied(ctx context.Context, path string, chain []int32) (n int) {
	uuids, _, _, _ := claudeRecords(ctx, path)
	for _, at := range chain {
		r := h.t.records.at(at)
		if _, found := slices.BinarySearch(uuids, r.uuid); found && r.is(isPerson) {
			n++
		}
	}
	return n
}
