package foreign

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// A session that was exported may go on in the tool, and come back. The lines of an export
// name the messages that they were made of, so the import puts these messages in their
// place, and renders the lines that the tool wrote.

// exportOf returns the tool's id of the export of a session that is kept in dir, and the
// folder in which the session keeps the tool's file.
func exportOf(md sessionstore.Metadata, dir, session, tool string) (id, place string) {
	place = importFolder + "_" + tool
	if s := stateIn(md, place); isID(tool, s.ID) { // metadata may be anybody's, and the id names a file
		return s.ID, place
	}
	id = ownID(session, tool)
	s := stateIn(md, importFolder)
	_, err := os.Lstat(filepath.Join(dir, importFolder, originalFile))
	if s.Tool != tool || err != nil && thread.UUID5(tool, s.ID) != session { // the fork of a branch is a session of its own
		return id, place
	}
	if isID(tool, s.ID) {
		id = s.ID
	}
	return id, importFolder
}

// isID reports whether a tool resumes a session with such an id.
func isID(tool, id string) bool {
	form := Tool(tool).program().IDs
	return form == nil && uuidForm.MatchString(id) || form != nil && form.MatchString(id)
}

// againID returns the tool's id of the nth further export of a session.
func againID(tool, id string, n int) string {
	return exportID(tool, thread.UUID5(tool, "export/"+id+"/again/"+strconv.Itoa(n)))
}

// exportID returns the tool's id of an export with a UUID.
func exportID(tool, uuid string) string {
	if form := Tool(tool).program().ID; form != nil {
		return form(uuid)
	}
	return uuid
}

// Copies returns those of the histories of a tool that are of the session id: of the file
// that it was imported from, and of the files that [Export] and [ExportAgain] wrote. What
// the tool adds to them comes home with the next import.
func Copies(ctx context.Context, st *sessionstore.Store, id string, tool Tool, all []History) (of []History, err error) {
	md, err := st.Metadata(ctx, id)
	if err != nil {
		return nil, err
	}
	exported, _ := exportOf(md, filepath.Join(st.Dir(), id), id, string(tool))
	ids := []string{exported, ownID(id, string(tool))}
	if s := stateIn(md, importFolder); s.Tool == string(tool) {
		ids = append(ids, s.ID)
	}
	has := func(id string) bool {
		return slices.ContainsFunc(all, func(h History) bool { return h.ID == id })
	}
	for n := 1; has(againID(string(tool), id, n)); n++ {
		ids = append(ids, againID(string(tool), id, n))
	}
	for _, h := range all {
		if h.Parent == "" && slices.Contains(ids, h.ID) {
			of = append(of, h)
		}
	}
	return of, nil
}

// ownID returns the tool's id of an export that has no line of the tool.
func ownID(session, tool string) string {
	if uuidForm.MatchString(session) {
		return exportID(tool, session)
	}
	return exportID(tool, thread.UUID5(tool, session))
}

// findHome finds the session that a file is an export of, and where it keeps the file. If
// the tool forked the export, the session is the origin.
func (ld *lander) findHome(ctx context.Context, f *thread.File, h thread.History, named string) error {
	id, tool := f.Table.Exported, ld.tool.Name()
	defer func() { ld.done.unsure = ld.home == "" }() // the session may come back, to any project
	slug, err := projectOf(ld.p, h, id, named)
	if err != nil {
		return err
	}
	st, err := storeThere(ctx, ld.p, slug)
	if err != nil || st == nil || !core.Of(st).Has(id) {
		return err
	}
	md, err := st.Metadata(ctx, id)
	if err != nil {
		return err
	}
	foreign, place := exportOf(md, filepath.Join(st.Dir(), id), id, tool)
	if own := ownID(id, tool); h.ID == own && place == importFolder && f.Table.BeginsMarked() { // the lines of the tool stay where they are
		foreign, place = own, importFolder+"_"+tool
	}
	if foreign != h.ID {
		ld.origin, ld.thread = id, foreign
		return nil
	}
	known := stateIn(md, place).ID
	if known != h.ID { // it came to another session before, as when this one was in the trash
		if slug, err := projectWith(ld.p, thread.UUID5(tool, h.ID)); err != nil || slug != "" {
			return err
		}
	}
	ld.home, ld.place, f.ID = id, place, cmp.Or(known, f.ID) // which Export changes where it is no UUID
	return nil
}

// findParent finds the parent of a session that the tool forked, and the turn at which the
// fork leaves the parent.
func (ld *lander) findParent(ctx context.Context, top *target, h thread.History) (err error) {
	path, t := "", top.file.Table
	beside := func(id string) string {
		return filepath.Join(filepath.Dir(h.Path), filepath.Base(id)+thread.HistorySuffix)
	}
	switch {
	case top.kind == Conversation && h.Origin != nil:
		path = h.Origin.Path
		if top.parent = ld.origin; ld.origin == "" || ld.thread != h.Origin.ID {
			top.parent, err = ld.sessionOf(h.Origin.ID)
		}
	case top.kind == Conversation && ld.origin != "":
		top.parent, path = ld.origin, beside(ld.thread)
	case top.parent != "":
		top.parent, err = ld.sessionOf(cmp.Or(h.Parent, t.Lineage.Spawner, t.Lineage.Original))
		if top.kind == Conversation && ld.tool.Program().Linked {
			path = beside(t.Lineage.Original)
		}
	}
	if path == "" || ld.has(top.id) { // else it is known where it leaves its origin
		return err
	}
	uuids, copied, exported := ld.uuidsIn(ctx, path), 0, 0
	for _, at := range top.chain {
		r := t.Records.At(at)
		if !r.Is(thread.IsPerson) {
			continue
		}
		if _, found := slices.BinarySearch(uuids, r.UUID); found {
			copied++
		}
		if t.IsMarked(at) {
			exported++
		}
	}
	top.turn = max(top.turn, copied, exported)
	return err
}

// uuidsIn returns hashes of the uuids of the records of a file, in order; none where it cannot
// be read.
func (ld *lander) uuidsIn(ctx context.Context, path string) (all []uint64) {
	f, leave, err := thread.Open(ctx, thread.Source{Segments: thread.Whole(path)}, ld.tool, "", thread.NewNotes())
	if err != nil {
		return nil
	}
	defer leave()
	for _, r := range f.Table.Records.All() {
		all = append(all, r.UUID)
	}
	slices.Sort(all)
	return all
}

// sessionOf returns the id of the session for the tool's session id: the session imported
// from it, or the session that it was exported from.
func (ld *lander) sessionOf(id string) (string, error) {
	made := thread.UUID5(ld.tool.Name(), id)
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

// findHere compares the lines of an export with the lines that an export would make now. Those
// of messages that the export changed it compares with their seals.
func findHere(ctx context.Context, f *thread.File, st *sessionstore.Store, id string) (*thread.HereRows, error) {
	here := &thread.HereRows{Rows: st.Messages(ctx, id)}
	marks := slices.Clone(f.Table.Marks)
	slices.SortStableFunc(marks, func(a, b thread.Mark) int { return cmp.Compare(a.Message, b.Message) })
	s := newSpeaker(f.Tool, id)
	mended, err := s.findMended(f, here.Rows, marks)
	if err != nil {
		return nil, err
	}
	marks = slices.DeleteFunc(marks, func(m thread.Mark) bool { return f.Table.Seals[m.At] != "" })
	n, first, before, mendedTo := int32(0), int32(1), 0, int32(0)
	goWith := func(lines []thread.HereLine, last int32) { // a message without lines goes with the message before
		for i := range lines {
			if lines[i].Last > 0 {
				lines[i].Last = max(lines[i].Last, last)
			}
		}
	}
	for m, err := range here.Rows {
		n++
		if err != nil {
			return nil, err
		}
		want, begin := s.says(int(n), m), len(here.Lines)
		for ; len(mended) > 0 && mended[0].First == n; mended = mended[1:] {
			line := mended[0]
			line.First, mendedTo = min(first, n), max(mendedTo, line.Last)
			here.Lines = append(here.Lines, line)
		}
		if len(want) == 0 && len(here.Lines) == begin {
			continue
		}
		for len(marks) > 0 && marks[0].Message <= n {
			size := min(max(len(want), 1), len(marks))
			said, err := saidBy(f, marks[:size])
			if err != nil {
				return nil, err
			}
			if marks[0].Message == n && (slices.Equal(said, want) || slices.Equal(said, s.before(int(n), m))) {
				here.Lines = append(here.Lines, hereLines(marks[:size], min(first, n), n)...)
			}
			marks = marks[size:]
		}
		switch {
		case len(here.Lines) > begin:
			first, before = max(n, mendedTo)+1, begin
		case n > mendedTo:
			goWith(here.Lines[before:], n-1)
			first, before = n+1, begin
		}
	}
	goWith(here.Lines[before:], n)
	slices.SortFunc(here.Lines, func(a, b thread.HereLine) int { return cmp.Compare(a.At, b.At) })
	return here, nil
}

// saidBy returns what the lines of marks say.
func saidBy(f *thread.File, marks []thread.Mark) (said []uint64, err error) {
	for _, m := range marks {
		raw, err := f.Input.Line(f.Table.Records.At(m.At).Offset)
		if err != nil {
			return nil, err
		}
		said = append(said, f.Tool.Says(raw))
	}
	return said, nil
}

// hereLines returns the lines of marks, which were made of the messages from first to last.
func hereLines(marks []thread.Mark, first, last int32) (lines []thread.HereLine) {
	for i, m := range marks {
		lines = append(lines, thread.HereLine{At: m.At, First: first, Last: last})
		if i > 0 {
			lines[i] = thread.HereLine{At: m.At, First: first}
		}
	}
	return lines
}

// making makes lines of a tool.
type making struct {
	w       *thread.LineWriter
	lines   thread.Maker
	format  thread.Tool
	tool    string
	id      string // the tool's id of the session
	session string
	last    time.Time
	floor   time.Time // when the next line may be made: Claude Code goes on from the newest, opencode orders them by it
	plain   bool      // without pictures in results, as earlier exports
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func newMaking(tool thread.Tool, id, session string, md sessionstore.Metadata, w io.Writer) *making {
	out := &making{w: &thread.LineWriter{Out: bufio.NewWriterSize(w, 64<<10)}, format: tool, tool: tool.Name(), id: id, session: session}
	out.last = time.Unix(0, 0).UTC()
	if t, ok := md.Created(); ok {
		out.last = t
	}
	home, _ := Home(Tool(out.tool)) // "": no settings are there
	out.lines = tool.Maker(out.w, thread.About{Home: home, ID: out.id, Dir: md.Text("working_dir"), Name: md.Text("name"), Model: md.Text("model"), Began: out.last, Named: namedAt(md)})
	return out
}

// mended makes the lines of a part.
func (out *making) mended(p part) error {
	for i, m := range p.msgs {
		key := fmt.Sprintf("/mended/%d/%016x", i, xxh3.Hash(m.AppendTo(nil))) // the file may have another line of the message
		if err := out.message(m, p.first, p.seal, key); err != nil {
			return err
		}
	}
	return nil
}

// message makes the lines of the nth message, or of one that an export has for it: with the
// seal of its part, and a key of its own.
func (out *making) message(m sessionstore.Message, n int, seal, own string) error {
	if row, err := pyjson.Append(nil, m.AppendTo(nil), pyjson.Style{}); err == nil { // as programs write it that save it anew
		if same, err := sessionstore.ParseMessage(row); err == nil {
			m = same
		}
	}
	if t, ok := m.Timestamp(); ok {
		out.last = t
	}
	mm := thread.Made{Message: m, At: out.last, Key: thread.UUID5(out.tool, "export/"+out.session+"/"+strconv.Itoa(n)+own), Said: m.Content(), Mark: out.session + "/" + strconv.Itoa(n), Seal: seal}
	mm.Reminder = m.Role() != "user" && m.Role() != "assistant" && m.Role() != "tool" || strings.HasPrefix(strings.TrimSpace(mm.Said), "<system-reminder>")
	if mm.At.Before(out.floor) {
		mm.At = out.floor
	}
	content, _ := m.Lookup("content")
	results := 0
	for block := range pyjson.Elements(content) {
		switch thread.Text(thread.Members(block, "type")[0]) {
		case "text", "image":
			if m.Role() != "tool" || !out.plain {
				mm.Blocks = append(mm.Blocks, json.RawMessage(block))
			}
		case "tool_result":
			if m.Role() != "user" {
				continue
			}
			if err := out.result(mm, block, results); err != nil {
				return err
			}
			results++
		}
	}
	if results > 0 && len(mm.Blocks) == 0 {
		return nil
	}
	return out.lines.Message(mm)
}

// result makes the lines of the nth result that a message has as a block.
func (out *making) result(mm thread.Made, block []byte, n int) (err error) {
	f := thread.Members(block, "tool_use_id", "content")
	row := map[string]json.RawMessage{"role": json.RawMessage(`"tool"`), "tool_call_id": f[0]}
	if f[1] != nil {
		row["content"] = f[1]
	}
	raw, err := pyjson.Encode(row)
	if err == nil {
		mm.Message, err = sessionstore.ParseMessage(raw)
	}
	mm.Said, mm.Reminder, mm.Blocks = mm.Content(), false, nil
	for part := range pyjson.Elements(f[1]) {
		if kind := thread.Text(thread.Members(part, "type")[0]); !out.plain && (kind == "text" || kind == "image") {
			mm.Blocks = append(mm.Blocks, json.RawMessage(part))
		}
	}
	mm.Key = thread.UUID5(out.tool, mm.Key+"/result/"+strconv.Itoa(n))
	return cmp.Or(err, out.lines.Message(mm))
}
