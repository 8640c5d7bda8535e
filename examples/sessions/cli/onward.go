package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// onward is a session on its way to another tool.
type onward struct {
	a    *app
	t    target
	p    *projects.Projects
	tool foreign.Tool
	dir  string // in which the session worked
	plan bool   // nothing is written
	mend *foreign.ExportOptions

	exported foreign.Exported
	draft    *os.File // what the tool's file has to hold
	path     string   // of the tool's file
	end      int64    // of that file, where lines are added
	from     int64    // of the draft: what the tool's file lacks
	former   []string // the tool's ids of conversations that the tool went on with apart from the session

	found   []foreign.History    // of the tool
	unfound error                // why some of them may be missing
	home    map[foreign.Tool]int // turns that came home
	grew    map[foreign.Tool]bool
	unnamed bool   // the tool has no name of the session
	other   string // the session that goes out instead: what another tool has apart from this one
}

// handedOn is the answer of resume --with.
type handedOn struct {
	ID      string         `json:"session_id"`
	Tool    foreign.Tool   `json:"tool"`
	Theirs  string         `json:"tool_session_id"`
	Path    string         `json:"path"`
	Written bool           `json:"written"`
	Bytes   int64          `json:"bytes_added"`
	Home    int            `json:"turns_that_came_home"`
	Apart   []string       `json:"went_on_apart"`
	Left    map[string]int `json:"left_out"`
	Mended  []mended       `json:"mended"`
	Dir     string         `json:"working_dir"`
	Command []string       `json:"command"`
}

// with writes the session where another tool looks for it, and starts the tool.
func (c *resumeCommand) with(a *app, t target) error {
	md, err := t.store.Metadata(a.ctx, t.id)
	if err != nil {
		return err
	}
	p, err := a.known(where(c.local))
	if err != nil {
		return err
	}
	o := &onward{a: a, t: t, p: p, tool: foreign.Tool(c.With), dir: md.Text("working_dir"), plan: c.Show, mend: c.options(foreign.Tool(c.With)), home: map[foreign.Tool]int{}, grew: map[foreign.Tool]bool{}}
	if o.dir == "" && a.worksHere(t) {
		o.dir, err = os.Getwd()
	}
	switch {
	case err != nil:
		return err
	case o.dir == "":
		return errors.New("the session does not name the directory in which it worked; run the command in the directory of its project")
	case !filepath.IsAbs(o.dir):
		return fmt.Errorf("the session worked in %s, which is no directory of this machine; sessions export --to=%s writes the file, for you to place", screen.Plain(o.dir), c.With)
	}
	begin := starting{program: c.With, dir: o.dir}
	if !o.plan && !a.json { // before anything is written
		if begin, err = a.start(t, o.dir, c.With); err != nil {
			return err
		}
	}
	added, left, err := o.handOver(md)
	if err != nil {
		return err
	}
	args := o.tool.Resume(o.exported.ID)
	if o.other != "" {
		return c.with(a, target{o.t.store, o.other})
	}
	if a.json {
		return a.writeJSON(handedOn{t.id, o.tool, o.exported.ID, o.path, !o.plan, added, o.cameHome(), filled(o.former), left, mendedJSON(o.exported.Changes), o.dir, append([]string{c.With}, args...)})
	}
	o.tell(added, left)
	return begin.run(a, os.Environ(), args...)
}

// cameHome returns how many turns came home from all tools.
func (o *onward) cameHome() (n int) {
	for _, turns := range o.home {
		n += turns
	}
	return n
}

// handOver brings home what the tool added, and writes its file. Until it is done it holds the
// session, as a host does, where sessions can be held: it neither hands over half a turn of a
// running one, nor what another call hands over at the moment.
func (o *onward) handOver(md sessionstore.Metadata) (added int64, left map[string]int, err error) {
	if st, err := o.p.Store(projectOf(o.t)); err == nil && sameDir(st.Dir(), o.t.store.Dir()) {
		o.t.store = st // whose hold lets the import in
	}
	if !o.plan {
		hold, err := o.t.store.Acquire(o.a.ctx, o.t.id, sessionstore.Owner{App: "sessions"})
		if errors.Is(err, sessionstore.ErrLocked) || errors.Is(err, sessionstore.ErrFenced) {
			return 0, nil, err
		}
		if err == nil {
			defer func() { _ = hold.Release() }() // the process ends it, too
		}
	}
	if o.draft, err = os.CreateTemp("", "sessions-"); err != nil {
		return 0, nil, err
	}
	_ = os.Remove(o.draft.Name())   // so a kill leaves no copy of the conversation
	defer os.Remove(o.draft.Name()) // where an open file stays, as on Windows
	defer o.draft.Close()
	if err = o.bringHome(); err == nil && o.other == "" {
		err = o.find()
	}
	if err != nil || o.other != "" {
		return 0, nil, err
	}
	left, err = o.leftOut(md)
	switch {
	case err != nil:
	case o.tool.Takes("") != nil:
		added, err = o.take()
	default:
		added, err = o.write()
	}
	if err == nil && !o.plan && o.unnamed {
		if err := o.exported.SetName(); err != nil {
			o.a.Notef("%s the session has no name there: %s", o.a.PaintError(screen.Yellow, "note:"), screen.Lines(explain(err)))
		}
	}
	return added, left, err
}

// find exports the session to the draft, and finds the place for it: a new file, or the file
// that an earlier call wrote, if that can go on as the session does.
func (o *onward) find() error {
	for n := 0; ; n++ {
		if err := o.export(n); err != nil {
			return err
		}
		if o.tool.Takes("") != nil {
			if fits, err := o.fits(n); err != nil || fits {
				return err
			}
			o.former = append(o.former, o.exported.ID)
			continue
		}
		folder, name := filepath.Split(filepath.FromSlash(o.exported.File))
		i := slices.IndexFunc(o.found, func(h foreign.History) bool {
			return h.ID == o.exported.ID && (folder == "" || filepath.Base(h.Path) == name) // else the tool does not read it any more
		})
		if o.unnamed = i < 0 || o.found[i].Title == ""; i < 0 { // a file at the place was cut off before the line that names the session
			err := o.unfound // a folder that cannot be read may have it
			if err == nil {
				o.path, err = o.place()
			}
			if o.end, o.from = 0, 0; err != nil || !isRegular(o.path) {
				return err
			}
		} else {
			o.path = o.found[i].Path
		}
		if o.plan && o.grew[o.tool] { // all that is there will be here
			var err error
			o.from, err = o.draft.Seek(0, io.SeekEnd)
			return err
		}
		if fits, err := o.continues(); err != nil || fits {
			return err
		}
		o.former = append(o.former, o.exported.ID)
	}
}

// export writes the draft: the session as it is, or with n as its nth further conversation.
func (o *onward) export(n int) (err error) {
	if _, err = o.draft.Seek(0, io.SeekStart); err == nil {
		err = o.draft.Truncate(0)
	}
	switch {
	case err != nil:
	case n == 0:
		o.exported, err = foreign.Export(o.a.ctx, o.t.store, o.t.id, o.tool, o.draft, o.mend)
	default:
		o.exported, err = foreign.ExportAgain(o.a.ctx, o.t.store, o.t.id, o.tool, n, o.draft, o.mend)
	}
	return unmended(err)
}

// bringHome imports what each tool added to its copies of the session, the copy first that
// changed first. Where another tool went on, too, what it has becomes a session beside this
// one, and bringHome asks which of them goes out.
func (o *onward) bringHome() error {
	var copies []foreign.History
	for _, tool := range foreign.Tools() {
		found, unfound := foreign.Find(o.a.ctx, tool, &foreign.FindOptions{Notes: foundNotes(o.a.env)})
		if tool == o.tool {
			o.found, o.unfound = found, unfound
		} else if unfound != nil {
			o.a.Notef("%s %s may have more of the session: %s", o.a.PaintError(screen.Yellow, "note:"), tool, screen.Lines(explain(unfound)))
		}
		some, err := foreign.Copies(o.a.ctx, o.t.store, o.t.id, tool, found)
		if err != nil {
			return err
		}
		copies = append(copies, some...)
	}
	slices.SortStableFunc(copies, func(x, y foreign.History) int { return x.Modified.Compare(y.Modified) })
	for _, h := range copies {
		before := foreign.Apart(o.t.store, o.t.id)[h.Tool]
		report, err := foreign.Import(o.a.ctx, o.p, h, &foreign.Options{DryRun: o.plan})
		if errors.Is(err, foreign.ErrEmpty) {
			continue
		}
		if err != nil {
			return fmt.Errorf("bring home what %s added: %w", h.Tool, err)
		}
		if !o.plan {
			o.a.changed("import", string(h.Tool), imported(o.p, h, report)...)
		}
		o.home[h.Tool] += report.Home[o.t.id]
		if slices.ContainsFunc(report.Sessions, func(s foreign.Imported) bool { return s.ID == o.t.id && s.Action == foreign.Updated }) {
			o.grew[h.Tool] = true
		}
		if apart := foreign.Apart(o.t.store, o.t.id)[h.Tool]; apart != before {
			if err := o.choose(h.Tool, apart); err != nil || o.other != "" {
				return err
			}
		}
	}
	return nil
}

// choose asks whether the session goes out or what a tool has apart from it. It asks nothing
// where the tool to go on in is that tool, and the session went on here: then the session
// becomes a conversation of its own there.
func (o *onward) choose(tool foreign.Tool, apart string) error {
	from, err := o.lastFrom()
	if err != nil || from == "" && tool == o.tool {
		return err
	}
	what := fmt.Sprintf("%s went on apart from session %s: what it has is session %s.", tool, screen.Plain(o.t.id), apart)
	if !o.a.Answers() {
		return fmt.Errorf("%s Call the command again with the one that goes out to %s", what, o.tool)
	}
	answer, err := o.a.Ask(o.a.ctx, fmt.Sprintf("%s Which goes out to %s, the first or the second? [1/2]:", what, o.tool))
	switch {
	case err != nil:
		return err
	case answer == "2":
		o.other = apart
	case answer != "1":
		return exitCode(exitError)
	}
	return nil
}

// lastFrom returns the tool that the last message of the session is from, "" for none.
func (o *onward) lastFrom() (string, error) {
	v, err := o.t.store.View(o.a.ctx, o.t.id)
	if err != nil {
		return "", err
	}
	defer v.Close()
	rows, err := v.Range(o.a.ctx, max(1, v.Len()), 1)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	var md struct{ Source struct{ Tool string } }
	raw, _ := rows[0].Lookup("metadata")
	_ = json.Unmarshal(raw, &md) // it has none
	return md.Source.Tool, nil
}

// unfinished is the time for which a line without an end may still be written. Later it was
// cut off, as its writer was.
const unfinished = time.Minute

func (o *onward) beingWritten() error {
	return fmt.Errorf("%s is being written: end %s and try again", screen.Plain(o.path), o.tool)
}

// mark is the byte order mark that an editor may put before a file.
var mark = []byte("\ufeff")

// continues reports whether the tool's file can go on as the draft does: it begins as the
// draft, and its further lines are no part of a conversation. It sets the places from which
// and to which the rest of the draft is to be copied.
func (o *onward) continues() (bool, error) {
	f, err := os.Open(o.path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err == nil {
		_, err = o.draft.Seek(0, io.SeekStart)
	}
	if err != nil {
		return false, err
	}
	theirs, ours := bufio.NewReader(f), bufio.NewReader(o.draft)
	o.end, o.from = 0, 0
	next, err := ours.ReadBytes('\n')
	for err == nil || errors.Is(err, io.EOF) {
		line, failed := theirs.ReadBytes('\n')
		if failed != nil && !errors.Is(failed, io.EOF) {
			return false, failed
		}
		o.end += int64(len(line))
		switch {
		case len(line) == 0:
			return o.from > 0 || o.end == 0, nil
		case bytes.Equal(bytes.TrimPrefix(line, mark), bytes.TrimPrefix(next, mark)):
			o.from += int64(len(next))
			next, err = ours.ReadBytes('\n')
		case failed != nil && bytes.HasPrefix(next, line): // a copy that was not written to its end
			o.from += int64(len(line))
			return true, nil
		case failed != nil && o.a.now().Sub(fi.ModTime()) < unfinished:
			return false, o.beingWritten()
		case failed != nil: // nothing can follow a line that was cut off
			return len(next) == 0, nil
		case o.tool.Speaks(line):
			return false, nil
		}
	}
	return false, err
}

// place returns the path of a new file at which the tool looks for the session.
func (o *onward) place() (string, error) {
	dir := o.dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	path, err := o.tool.Place(dir, o.exported)
	if err != nil {
		err = fmt.Errorf("%s: %w; sessions export --to=%s writes the file, for you to place", screen.Plain(dir), err, o.tool)
	}
	return path, err
}

// write copies what the tool's file lacks of the draft to its end, and returns the number of
// bytes. It makes the file where there is none, and never writes over anything. After an
// error the file is as it was.
func (o *onward) write() (int64, error) {
	size, err := o.draft.Seek(0, io.SeekEnd)
	if err != nil || o.plan || size == o.from {
		return size - o.from, err
	}
	mode := os.O_WRONLY | os.O_APPEND
	if o.end == 0 {
		if mode |= os.O_CREATE; !isRegular(o.path) {
			mode |= os.O_EXCL
		}
		if err := os.MkdirAll(filepath.Dir(o.path), 0o700); err != nil {
			return 0, err
		}
		if err := o.further(); err != nil {
			return 0, err
		}
	}
	f, err := os.OpenFile(o.path, mode, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || fi.Size() != o.end {
		return 0, errors.Join(err, o.beingWritten())
	}
	n, err := io.Copy(f, io.NewSectionReader(o.draft, o.from, size-o.from))
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		return n, f.Close()
	}
	if fi, failed := f.Stat(); failed == nil && fi.Size() == o.end+n { // nothing followed
		err = errors.Join(err, os.Truncate(o.path, o.end))
	}
	return 0, err
}

// further writes the files that belong beside a new one. It leaves a folder as it is that has other
// files: the tool or a person made it.
func (o *onward) further() error {
	if len(o.exported.Further) == 0 {
		return nil
	}
	folder := filepath.Dir(o.path)
	there, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var old []string // files of this session, whole or torn, of an earlier call that was killed
	for _, e := range there {
		if text, ours := o.exported.Further[e.Name()]; ours && e.Type().IsRegular() {
			path := filepath.Join(folder, e.Name())
			raw, err := os.ReadFile(path)
			if head, _, _ := bytes.Cut(text, []byte("\n")); err == nil && (bytes.HasPrefix(raw, head) || bytes.HasPrefix(head, raw)) {
				old = append(old, path)
				continue
			}
		}
		if e.Name() != filepath.Base(o.path) || !isRegular(o.path) {
			return fmt.Errorf("%s has %s, which is not of this session: move the folder away, or export with --to=%s", screen.Plain(folder), screen.Plain(e.Name()), o.tool)
		}
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.exported.Further)) {
		f, err := os.OpenFile(filepath.Join(folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.Write(o.exported.Further[name])
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// isRegular reports whether a regular file has the path, which is no symlink.
func isRegular(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode().IsRegular()
}

// leftOut counts the parts that have no place in the lines that are made for the tool.
func (o *onward) leftOut(md sessionstore.Metadata) (map[string]int, error) {
	left := map[string]int{}
	add := func(what string, n int) {
		if n > 0 {
			left[what] += n
		}
	}
	s, err := o.t.store.View(o.a.ctx, o.t.id)
	if err != nil {
		return nil, err
	}
	first := s.Len() - o.exported.Messages
	if err := s.Close(); err != nil {
		return nil, err
	}
	n := 0
	for m, err := range o.t.store.Messages(o.a.ctx, o.t.id) {
		if err != nil {
			return nil, err
		}
		if n++; n <= first {
			continue
		}
		add("thought", len(m.Thinking()))
		content, _ := m.Lookup("content")
		var parts []struct{ Type string }
		_ = json.Unmarshal(content, &parts) // a text has none
		for _, p := range parts {
			switch {
			case p.Type == "text" || p.Type == "image" && m.Role() != "assistant":
			case strings.Contains(p.Type, "thinking") || p.Type == "reasoning" || strings.HasPrefix(p.Type, "tool_"): // thoughts are counted; calls and results have a place
			default:
				add(p.Type, 1)
			}
		}
	}
	if !o.exported.Named && o.tool.Takes("") == nil {
		add("name", 1)
	}
	phases, err := workflow.New(o.t.store).PhaseOutputs(o.a.ctx, o.t.id)
	if errors.Is(err, sessionstore.ErrCorrupt) {
		err = nil // the others count
	}
	add("workflow phase", len(phases))
	return left, err
}

// tell writes what was done, for people.
func (o *onward) tell(added int64, left map[string]int) {
	a, name := o.a, string(o.tool)
	for _, id := range o.former {
		there := fmt.Sprintf("\"sessions import --from %s\" has those turns in a session of their own", name)
		if apart := foreign.Apart(o.t.store, o.t.id)[o.tool]; apart != "" {
			there = fmt.Sprintf("\"sessions resume %s\" goes on from there", apart)
		}
		a.Notef("%s %s went on apart from this session in %s; %s", a.PaintError(screen.Yellow, "note:"), name, id, there)
	}
	for _, tool := range slices.Sorted(maps.Keys(o.home)) {
		if n := o.home[tool]; n > 0 {
			a.Notef("%s %s came home from %s", a.PaintError(screen.Green, "✓"), count(n, "turn"), tool)
		}
	}
	verb := "Wrote"
	if o.plan {
		verb = "Would write"
	}
	switch {
	case o.plan && len(o.grew) > 1:
		a.Notef("%s several tools went on: without --show, what one of them has stays beside the session, and the command asks which goes out", a.PaintError(screen.Yellow, "note:"))
	case o.plan && len(o.grew) > 0 && !o.grew[o.tool]:
		a.Notef("%s Would write what came home to %s", a.PaintError(screen.Green, "✓"), screen.Plain(o.path))
	case added == 0:
		a.Notef("%s %s has all of it: %s", a.PaintError(screen.Green, "✓"), name, screen.Plain(o.path))
	case o.end > 0:
		a.Notef("%s %s %s to the end of %s", a.PaintError(screen.Green, "✓"), verb, size(added), screen.Plain(o.path))
	default:
		a.Notef("%s %s %s", a.PaintError(screen.Green, "✓"), verb, screen.Plain(o.path))
	}
	if len(left) > 0 {
		var parts []string
		for _, what := range slices.Sorted(maps.Keys(left)) {
			parts = append(parts, count(left[what], screen.Plain(what)))
		}
		a.Notef("  no place there: %s", strings.Join(parts, ", "))
	}
	a.noteMended(o.exported.Changes)
	if !o.plan {
		a.Notef("  \"sessions import --from %s\" brings home what is said there", name)
	}
}
