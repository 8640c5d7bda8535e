package foreign

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Exported describes the file that an export wrote.
type Exported struct {
	ID       string // the tool's id of the session
	File     string // name by which the tool finds it
	Original int64  // bytes that are the tool's own
	Messages int    // that lines were made for
	Named    bool   // the file, Further or SetName gives the session its name, or it has none to give

	// Further are the files that belong beside it, by their names, where the tool keeps a folder
	// for each session and has none of this one.
	Further map[string][]byte

	// Changes are what the export has otherwise than the session, in the order of messages,
	// also in lines that an earlier export wrote.
	Changes []Change

	tool thread.Tool
	name string // see newName
}

// SetName gives the session its name in Codex, once the file is in its place: it adds a line to
// the file of names, as Codex does. Call it only for a thread whose [History.Title] is "", since
// the last name counts. For other tools it does nothing: the exported file has the name.
func (e Exported) SetName() error {
	home, err := Home(Tool(e.tool.Name()))
	if err != nil {
		return err
	}
	return addName(e.tool, home, e.ID, e.name)
}

// addName adds the name of a session to the file in which a tool looks for names. The tool itself
// adds lines to it, too.
func addName(tool thread.Tool, home, id, name string) error {
	names := tool.Program().Names
	if names == "" || name == "" {
		return nil
	}
	row := fmt.Appendf(nil, "\n{\"id\":%s,\"thread_name\":%s,\"updated_at\":%s}\n", quoted(id), quoted(name), quoted(thread.Stamp(time.Now())))
	return inHome(home, func(home *vfs.Dir) error {
		f, _, err := home.Append(names)
		if err != nil {
			return err
		}
		return errors.Join(f.Write(row, 0), f.Close()) // after a line that may not end
	})
}

// newName returns the name of a session that its file in a tool lacks, "" for no such name. f is
// the file that goes on, which the session keeps in place: a name that a person gave it there stays.
func newName(md sessionstore.Metadata, f *thread.File, place string) string {
	if f != nil && (place == importFolder && namedAt(md).IsZero() || namedThere(md, f.Table)) {
		return ""
	}
	return md.Text("name")
}

// namedThere reports whether a person gave a session a name in its file, or took it away, and
// none was given here since.
func namedThere(md sessionstore.Metadata, t *thread.Table) bool {
	return !t.Named.IsZero() && !namedAt(md).After(t.Named)
}

// namedAt returns when a session got its name here, the zero time where it got none.
func namedAt(md sessionstore.Metadata) time.Time {
	at, _, _ := pytime.Parse(md.Text("name_updated_at"))
	return at.Truncate(time.Millisecond) // as lines have it
}

// Export writes a session as a file of a tool. Lines imported from that tool stay the
// tool's own bytes; Export makes lines for the messages after them. If imported messages
// were changed or removed here, the file still has the tool's bytes, and the lines after
// them make the conversation of the file equal to the one here. For a session that another
// program wrote, or that an import made of a branch, Export makes all lines.
//
// The lines that are made have texts, images, calls and results, and no thinking. The
// arguments of a call that are no JSON object are the member "arguments" of one. An import
// of the file, once the tool went on with it, brings the new turns into the session. The
// tool did not check the lines: this package reads them back as the messages that they were
// made from. What the provider would refuse is changed in the lines, as opts say, and told;
// the session stays as it is. For a session that the tool keeps in several files, which do not simply follow
// each other, Export makes all lines, too; so it does where lines would have to follow the
// numbered lines of a newer Codex, and for a sub-agent of Claude Code. Such a file is a
// session of its own in the tool, beside the one that the tool may have.
//
// The error Is [ErrTool] for another tool and [sessionstore.ErrNotFound] when there is no
// such session. Errors have no text of the session.
//
// [sessionstore.ErrNotFound]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#ErrNotFound
func Export(ctx context.Context, st *sessionstore.Store, id string, tool Tool, w io.Writer, opts *ExportOptions) (Exported, error) {
	return ExportAgain(ctx, st, id, tool, 0, w, opts)
}

// ExportAgain is [Export] under a further id of the tool, which follows from the id of the
// session and from n: for a session whose export the tool continued while the session went
// on, too, so that the file of the first export cannot hold both. Export makes all lines
// then. An import of the file, once the tool went on with it, makes a session of its own,
// whose parent is the session.
func ExportAgain(ctx context.Context, st *sessionstore.Store, id string, tool Tool, n int, w io.Writer, opts *ExportOptions) (done Exported, err error) {
	format := programs[string(tool)]
	if format == nil {
		return done, fmt.Errorf("export session: %w %q", ErrTool, tool)
	}
	if done, err = exportPacked(ctx, st, id, format, n, w, opts); err != nil {
		err = fmt.Errorf("export session %q: %w", id, err)
	}
	return done, err
}

// ExportFile is [Export] to the file name. A regular file is replaced whole and durably,
// and keeps its mode and its owner; else a new one appears whole, which only its owner may
// read. After an error the former file is unchanged. A symlink stays, and the file that it
// leads to is written. A FIFO, a device and the standard output are written straight. The
// error Is fs.ErrExist for a file below the store's directory.
func ExportFile(ctx context.Context, st *sessionstore.Store, id string, tool Tool, name string, opts *ExportOptions) (done Exported, err error) {
	err = vfs.WriteNamed(ctx, name, st.Dir(), func(w io.Writer) (err error) {
		done, err = Export(ctx, st, id, tool, w, opts)
		return err
	})
	return done, err
}

// export writes a session as a file of a tool, or, where again is not 0, as a further one of
// which all lines are made.
func export(ctx context.Context, st *sessionstore.Store, id string, tool thread.Tool, again int, w io.Writer, opts *ExportOptions) (done Exported, err error) {
	md, err := st.Metadata(ctx, id)
	if err != nil {
		return done, err
	}
	parts, changes, err := mend(ctx, st, id, tool, opts)
	if err != nil {
		return done, err
	}
	done.Changes = changes
	var f *thread.File
	place := ""
	c, goesOn := compared{stop: func() {}}, false
	defer func() { c.stop() }()
	if again > 0 {
		done.ID = againID(tool.Name(), id, again)
	} else {
		done.ID, place = exportOf(md, filepath.Join(st.Dir(), id), id, tool.Name())
		dir := filepath.Join(st.Dir(), id, place)
		var leave func()
		if f, leave = openOriginal(ctx, dir, tool, stateIn(md, place)); f != nil {
			defer leave()
			c, goesOn, err = keptFile(ctx, st, id, f, dir, stateIn(md, place).early(), parts)
			if !goesOn {
				done.ID = ownID(id, tool.Name()) // the tool may have the other lines
			}
		}
	}
	if err != nil {
		return done, err
	}
	out := newMaking(tool, done.ID, id, md, thread.WriterUntil(ctx, w))
	kept, n := 0, 0
	if goesOn {
		kept, err = out.continueOriginal(f, c)
		done.Original = f.Size
	} else {
		f, err = nil, out.lines.Begin()
	}
	if err != nil {
		return done, err
	}
	for m, err := range st.Messages(ctx, id) {
		if err != nil {
			return done, err
		}
		if n++; n <= kept {
			continue
		}
		for len(parts) > 0 && parts[0].last < n {
			parts = parts[1:]
		}
		switch {
		case len(parts) == 0 || n < parts[0].first:
			err = out.message(m, n, "", "")
		case n == parts[0].first:
			err = out.mended(parts[0])
		}
		if err != nil {
			return done, fmt.Errorf("message %d: %w", n, err)
		}
		done.Messages++
	}
	done.File, done.tool, done.name = out.lines.File(), tool, newName(md, f, place)
	names, inFile := out.lines.(interface{ Name(string, bool) error })
	if inFile && done.name != "" && (f == nil || f.Table.Title != done.name || !f.Table.Named.IsZero() && namedAt(md).After(f.Table.Named)) { // it may have had another one since
		err = names.Name(done.name, md.Text("name_source") != "generated" && md.Text("name_source") != "fallback")
	}
	if of, ok := out.lines.(interface {
		Further() (map[string][]byte, error)
	}); ok && err == nil {
		done.Further, err = of.Further()
	}
	done.Named = done.name == "" || inFile || tool.Program().Names != "" || done.Further != nil
	return done, cmp.Or(err, out.w.Flush())
}

// compared is how far a session equals the messages that its kept file makes.
type compared struct {
	chain []int32
	r     *thread.Rendering
	kept  int                                        // how many messages are as the file makes them
	whole bool                                       // the file makes no others
	next  func() (sessionstore.Message, error, bool) // the messages of the session behind them
	stop  func()                                     // ends the reading of the session
}

// compare compares a session with the messages that its kept file makes. A message of which
// the export has other lines than the file is not the same.
func compare(ctx context.Context, f *thread.File, st *sessionstore.Store, id string, s thread.Scope, early int, parts []part) (c compared, err error) {
	f.Table.SetScope(s)
	tg := target{file: f, chain: f.Line(s), early: early}
	if f.Table.Exported == id {
		if tg.here, err = findHere(ctx, f, st, id); err != nil {
			return compared{stop: func() {}}, err
		}
	}
	n, other := 0, firstOther(f, tg.chain, tg.here, parts)
	return tg.compare(ctx, st, id, func(made, ours sessionstore.Message) bool {
		n++
		return n != other && same(made, ours)
	})
}

// compare compares a session with the messages of the target.
func (tg target) compare(ctx context.Context, st *sessionstore.Store, id string, same func(made, ours sessionstore.Message) bool) (c compared, err error) {
	c.chain, c.whole = tg.chain, true
	asked := 0 // the messages before the last answer: with its results, its lines are made anew
	c.next, c.stop = iter.Pull2(st.Messages(ctx, id))
	c.r, err = thread.Render(tg.file, tg.chain, tg.turn, tg.early, tg.here, thread.NewNotes(), func(m sessionstore.Message) error {
		ours, err, ok := c.next()
		if err != nil {
			return err
		}
		if m.Role() == "assistant" {
			asked = c.kept
		}
		if !ok || !same(m, ours) {
			if c.whole = false; m.Role() == "tool" {
				c.kept = asked
			}
			return errDiffers
		}
		c.kept++
		return nil
	})
	if errors.Is(err, errDiffers) {
		err = nil
	}
	return c, err
}

// keptFile compares a session with the tool's file that it keeps. goesOn reports whether the
// tool can resume the file with the lines that have to follow.
func keptFile(ctx context.Context, st *sessionstore.Store, id string, f *thread.File, dir string, early int, parts []part) (c compared, goesOn bool, err error) {
	c.stop = func() {}
	h, err := readHeader(dir)
	if err != nil || len(h.Copies) > 0 || !f.Layout.IsPlain() {
		return c, false, err
	}
	c, err = compare(ctx, f, st, id, h.scope(), early, parts)
	if err != nil || len(c.chain) > 0 && f.Table.Records.At(c.chain[0]).Is(thread.IsSidechain) { // the tool resumes no sub-agent
		return c, false, err
	}
	if f.Table.Numbered {
		_, err, more := c.next()
		return c, err == nil && !more && c.whole, err
	}
	if f.Tool.Program().Linear {
		return c, c.whole, nil
	}
	return c, true, nil
}

// continueOriginal writes the tool's file and the line that joins the next ones to it. It
// returns how many messages of the session the file holds.
func (out *making) continueOriginal(f *thread.File, c compared) (int, error) {
	if n, err := io.Copy(out.w, io.NewSectionReader(f.Reader, 0, f.Size)); err != nil || n < f.Size {
		return 0, cmp.Or(err, thread.ErrChanged)
	}
	if f.Tool.Program().Linked {
		out.floor = f.Table.Facts.Last
	}
	if f.Tool.Program().Linear { // it orders messages of one time by their ids
		out.floor = out.floor.Add(time.Millisecond)
	}
	parent := int32(-1)
	for i := len(c.chain) - 1; i >= 0 && parent < 0; i-- {
		if n := int(c.r.Numbers[c.chain[i]]); c.whole || n > 0 && n <= c.kept {
			parent = c.chain[i]
		}
	}
	if !c.whole {
		if _, err, more := c.next(); c.kept == 0 || !more && err == nil || !f.Tool.Program().Linked {
			c.kept, parent = 0, -1 // the line to go on from is no end, or there is none
		}
	}
	behind := ""
	if parent >= 0 {
		behind = f.RecordID(parent)
	}
	return c.kept, out.lines.Join(behind, c.whole)
}

// same reports whether two messages are the same to a program that writes rows anew.
func same(a, b sessionstore.Message) bool {
	x, errX := pyjson.AppendMessage(nil, a.AppendTo(nil), pyjson.Style{})
	y, errY := pyjson.AppendMessage(nil, b.AppendTo(nil), pyjson.Style{})
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// Longer reports whether an imported session holds more than the tool would send to a
// model: also the messages that a compaction hid from it. It is false for a session that
// was not imported.
func Longer(st *sessionstore.Store, id string) (bool, error) {
	h, err := readHeader(filepath.Join(st.Dir(), id, importFolder))
	return h.Longer, err
}

// Hidden returns how many messages of a session stand before the last compaction of a tool
// that it was imported from: that tool would send a summary of them. It is 0 where no such
// message is in the session, or the tool's file is not kept, and at most the number of
// messages at the last import. It reads all of that file; [Longer] is quick. For what the
// messages say see package slice/conversation.
func Hidden(ctx context.Context, st *sessionstore.Store, id string) (n int, err error) {
	md, err := st.Metadata(ctx, id)
	for _, place := range places {
		s, lines := stateIn(md, place), []mapped(nil)
		if err == nil {
			lines, err = mappedLines(ctx, filepath.Join(st.Dir(), id, place))
		}
		for _, folder := range []string{filepath.Join(id, place), filepath.Join(thread.UUID5(s.Tool, s.ID), importFolder)} { // its own, or where it is a branch that of the conversation
			f, leave := openOriginal(ctx, filepath.Join(st.Dir(), folder), programs[s.Tool], s)
			if f == nil {
				continue
			}
			n = max(n, hiddenIn(f.Table, lines))
			leave()
			break
		}
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return 0, fmt.Errorf("hidden messages of session %q: %w", id, err)
	}
	return n, nil
}

// hiddenIn is Hidden for a file of which lines became the messages.
func hiddenIn(t *thread.Table, lines []mapped) (n int) {
	numbers, from := map[int32]int{}, int32(-1)
	for _, l := range lines {
		numbers[int32(l.line)], from = l.message, max(from, t.RecordAt(l.line))
	}
	if slices.Contains(slices.Collect(t.Walk(t.End, thread.WholeLine)), from) { // the file may end with a compaction
		from = t.End
	}
	before, next := false, 0 // the first message after the compaction: those of no line stand before it
	for at := range t.Walk(from, thread.WholeLine) {
		switch number := numbers[t.Line(at)]; {
		case before:
			n = max(n, number)
		case number > 0:
			next = number
		}
		before = before || t.Records.At(at).Is(thread.IsBoundary)
	}
	if n > 0 && next > 0 {
		n = next - 1
	}
	return n
}
