// Package thread reads a history of another tool as a graph of records, finds in it the line
// of the conversation and the branches beside it, and makes messages of a line. A
// [Tool] and its [Format] read the lines.
package thread

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/slice/accept"
	"github.com/amplifier-go/sessionstorage/slice/accept/scale"
)

// Tool is a tool whose histories are read and written: a source of sessions. A further one is
// a package with this interface, and a line in foreign.programs; nothing else knows a tool by
// its name. See the page SOURCES.md of package foreign.
type Tool interface {
	Name() string // also of its program on PATH
	Program() Program

	// Find lists the histories below the directory of the tool.
	Find(ctx context.Context, home string) ([]History, error)

	// Format returns how the tool writes a file. elsewhere reports whether another file of
	// the tool has the record with a uuid; origin yields the lines of the file that this one
	// may begin with a copy of, none where that is not there.
	Format(l *Layout, elsewhere func(uuid uint64) bool, origin iter.Seq2[Line, error]) Format

	// Maker returns the maker of lines of the tool.
	Maker(w *LineWriter, a About) Maker

	// Place returns where below the directory of the tool it looks for a file that a [Maker]
	// named, of a session that worked in the directory dir.
	Place(dir, file string) (string, error)

	// Speaks reports whether a line of a file is a part of the conversation, or decides about
	// the lines that may follow it.
	Speaks(raw []byte) bool

	// Says returns a hash of the content of a line, without its time.
	Says(raw []byte) uint64

	// IsCompared reports whether files are compared by a record.
	IsCompared(r Record) bool

	// Repeats reports whether the name of an agent's file says that it repeats the
	// conversation, and whether a question that a person asked beside that follows there.
	Repeats(path string) (copied, question bool)

	// Beside returns the path of the file that describes the sub-agent whose file is at path,
	// "" where the tool has none.
	Beside(path string) string
}

// Alone is embedded by a tool whose files are compared by all records and whose sub-agents have no files,
// and by its format.
type Alone struct{}

// IsCompared, Repeats and Beside are methods of [Tool], Agent of [Format].
func (Alone) IsCompared(Record) bool                           { return true }
func (Alone) Repeats(string) (copied, question bool)           { return false, false }
func (Alone) Beside(string) string                             { return "" }
func (Alone) Agent(_ string, _ *Table) (id, name, task string) { return "", "agent", "" }

// Database is a tool that keeps its sessions in a database, and that itself writes there.
type Database interface {
	// Open is [OpenPlain] for the path of a history, which is none of a file: it gives the lines
	// of the session, as they are now.
	Open(ctx context.Context, path string) (r io.ReaderAt, size int64, leave func(), err error)

	// Database returns the files below the directory of the tool whose facts say whether the
	// database changed.
	Database(home string) []string

	// Pack makes of the lines of a session, which has a name or "", the file that the tool
	// imports, and Take returns the arguments with which it does.
	Pack(ctx context.Context, lines io.ReadSeeker, name string, w io.Writer) error
	Take(path string) []string

	// Join writes the lines that were kept of a session, and behind them what it has now beside
	// them. Where the tool took lines back, those behind them follow the ones before.
	Join(ctx context.Context, kept, now *File, w io.Writer) error
}

// Program is what is known of a tool beside its files.
type Program struct {
	Title  string // its name for people
	Home   string // the directory in which it keeps its histories, below the home of the user
	Moved  string // the environment variable that names another one
	Below  string // the folder in that one
	Resume string // the argument before the id of a session with which it goes on in that

	// Names is the file in Home to which the tool adds a line for each name that a session gets;
	// "" where the name is in the file of the session.
	Names string

	// Linear says that the tool goes on behind the last line of a file alone, and orders lines by
	// their times: later lines are added to a file of which the session has all, and else there is a further one.
	Linear bool

	// ID returns the tool's id for an export with this UUID; nil: the UUID.
	ID func(uuid string) string

	// Linked says that each record names the record that it follows. The records of other
	// tools follow the line before.
	Linked bool

	// Totals says that files have the usage of a whole thread, and not of each response.
	Totals bool

	// IDs matches the ids of sessions, also in the names of files; nil: UUIDs.
	IDs *regexp.Regexp

	// Target returns what the tool sends its conversations to unless it is set up otherwise.
	Target func() accept.Target
}

// AnyProvider is the Target of a tool that sends its conversations to any provider: what Anthropic
// takes, the others take.
func AnyProvider() accept.Target {
	return accept.Target{Provider: accept.Anthropic, Scale: scale.Picture}
}

// Format is how a tool writes one file.
type Format interface {
	// Scan makes the records of a line. The error says that the line is damaged, or, as
	// [Object] has it, that it is blank; there are no records then.
	Scan(s *Scanning, raw []byte) error

	// Finish links the records, after the last line, and finds the one that the conversation
	// ends with.
	Finish(s *Scanning)

	// Part returns the content of a record, which is the nth of the line at offset, from 0.
	// The result shares the memory of the line. read reads another line, whose bytes are valid
	// until it is called again.
	Part(raw []byte, offset int64, n int, read func(offset int64) ([]byte, error)) (Part, error)

	// Agent returns the id, the kind and the task, where it is known, of the sub-agent whose
	// file is at path.
	Agent(path string, t *Table) (id, name, task string)
}

// Scanning is the first reading of a file.
type Scanning struct {
	Table   *Table
	loose   pieces[result] // records whose parent is not the record before: the hash of its uuid, and the record
	calls   pieces[result]
	results pieces[result]
	Marks   pieces[Mark]
	Notes   *Notes
	Offset  int64 // of the line
}

// scan reads the first size bytes of a file.
func scan(ctx context.Context, f io.ReaderAt, size int64, fm Format, n *Notes) (*Table, error) {
	s := Scanning{Table: &Table{End: -1}, Notes: n}
	sum := sha256.New()
	for l, err := range LinesOf(ctx, io.TeeReader(io.NewSectionReader(f, 0, size), sum)) {
		if err != nil {
			return nil, err
		}
		s.Table.LinesRead++
		s.Offset = l.offset
		err = errLongLine
		if !l.long {
			err = fm.Scan(&s, l.Bytes)
		}
		switch {
		case err == nil:
		case errors.Is(err, errBlank):
			s.Add(Record{Flags: isBlank}, 0)
		default:
			s.Add(Record{Flags: isDamaged}, 0)
			s.Table.Facts.Unread++
			if len(n.Damaged) < maxDamaged {
				n.Damaged = append(n.Damaged, LineError{l.number, withoutPlace(err)})
			}
		}
	}
	s.Table.Sum = hex.EncodeToString(sum.Sum(nil))
	fm.Finish(&s)
	steps, first := 0, s.Table.End
	for first = range s.Table.Walk(first, WholeLine) {
		steps++
	}
	if r := first; steps > 0 && steps == s.Table.Records.Len() && s.Table.prev(r, WholeLine) >= 0 {
		s.Table.End = -1 // the records before it lead back to it
	}
	s.Table.Calls, s.Table.Results, s.Table.Marks, s.Table.Facts.Spent = s.calls.take(), s.results.take(), s.Marks.take(), s.Table.Facts.spending.take()
	for _, all := range [][]result{s.Table.Calls, s.Table.Results} {
		slices.SortFunc(all, func(a, b result) int { return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.At, b.At)) })
	}
	s.Table.byKey = s.Table.ordered(func(r *Record) bool { return r.Is(IsAssistant) }, func(r *Record) uint64 { return r.Key })
	s.Table.mergeSpent()
	return s.Table, nil
}

// withoutPlace drops from an error the names of members, which may be a person's text.
func withoutPlace(err error) error {
	var e *pyjson.Error
	if !errors.As(err, &e) {
		return err
	}
	return &pyjson.Error{Offset: e.Offset, Reason: e.Reason, What: e.What}
}

// Add appends the first record of a line, which follows the one with the uuid of
// the hash parent, and returns its index.
func (s *Scanning) Add(r Record, parent uint64) int32 {
	at := int32(s.Table.Records.Len())
	r.Offset, r.Parent = s.Offset, -1
	switch {
	case parent == 0:
	case at > 0 && s.Table.Records.At(at-1).UUID == parent:
		r.Parent = at - 1
	default:
		s.loose.add(result{parent, at})
	}
	s.Table.Records.add(r)
	return at
}

// Head notes the time and the marks of the line of the next record.
func (s *Scanning) Head(h Head) {
	if h.Mark != "" {
		s.Mark(h.Mark, h.Seal)
	}
	s.Table.Facts.Time(h.At, h.AtText)
	if s.Table.First.IsZero() {
		s.Table.First = h.At
	}
}

// Content notes what the next record has by its flags: the calls of an answer, the result of a call, or
// the prompt of a person, which is its key.
func (s *Scanning) Content(r *Record, p Part, call string) {
	at := int32(s.Table.Records.Len())
	switch {
	case r.Is(IsAssistant):
		for _, c := range p.Answer().Calls {
			s.Call(c.ID, at)
		}
	case r.Is(HasResults):
		s.Result(call, at)
	case r.Is(IsPerson):
		r.Key = Hash(cmp.Or(p.Prompt(), "image"))
	}
}

// Version takes the version of the format, and counts one that is newer than the newest one that is known.
func (s *Scanning) Version(raw []byte, newest int64) {
	n, ok := pyjson.Int(raw)
	if s.Table.Version = n; ok && n > newest {
		s.UnknownKind("version", strconv.FormatInt(n, 10))
	}
}

// Result notes that a record has the result of a call.
func (s *Scanning) Result(call string, at int32) {
	if call != "" {
		s.results.add(result{Hash(call), at})
	}
}

// Call notes that a record has a call.
func (s *Scanning) Call(id string, at int32) { s.calls.add(result{Hash(id), at}) }

// UnknownKind counts a kind that is not known.
func (s *Scanning) UnknownKind(what, name string) {
	s.Notes.Unknown(what, name)
	s.Table.Facts.unknownKind(what, name)
}

// Mark takes the message that the line of the next record names. Only the session that the
// last line names counts: an export of a fork goes on behind the lines that its origin
// exported. seal is not "" where the export changed that message.
func (s *Scanning) Mark(said, seal string) {
	i := strings.LastIndexByte(said, '/')
	n, err := strconv.ParseInt(said[i+1:], 10, 32)
	if i < 0 || err != nil || n < 1 {
		return
	}
	if said[:i] != s.Table.Exported {
		s.Table.Exported, s.Marks, s.Table.Seals = said[:i], pieces[Mark]{}, map[int32]string{}
	}
	if seal != "" && len(seal) <= maxSeal {
		s.Table.Seals[int32(s.Table.Records.Len())] = seal
	}
	s.Marks.add(Mark{int32(s.Table.Records.Len()), int32(n)})
}

// File is a file of a tool that was read, or several that are read as one.
type File struct {
	Path   string
	Reader *joined
	Size   int64
	Input  *input
	other  *input // of lines that a record of another one names
	Format Format
	Layout Layout
	Table  *Table
	Tool   Tool
	ID     string // the tool's id of the session
	Told   func(line int, err error) LineError
}

// Open opens and scans the files of a history.
func Open(ctx context.Context, src Source, tool Tool, id string, n *Notes) (*File, func(), error) {
	open := OpenPlain
	if db, ok := tool.(Database); ok {
		open = db.Open
	}
	r, l, leave, err := openSegments(ctx, open, src.Segments, src.main)
	if err != nil {
		return nil, nil, err
	}
	if len(src.Segments) == 1 {
		l = src.Layout
	}
	f, err := read(ctx, src, r, l, tool, id, n)
	if err != nil {
		leave()
		return nil, nil, err
	}
	return f, leave, nil
}

// Read is Open of the bytes that the file of a history would have.
func Read(ctx context.Context, src Source, data io.ReaderAt, size int64, tool Tool, id string, n *Notes) (*File, error) {
	r := &joined{starts: []int64{0}}
	r.add(data, size)
	return read(ctx, src, r, Layout{}, tool, id, n)
}

func read(ctx context.Context, src Source, r *joined, l Layout, tool Tool, id string, n *Notes) (_ *File, err error) {
	f := &File{Path: src.Segments[0].Path, Reader: r, Size: r.size, Input: &input{f: r, size: r.size}, other: &input{f: r, size: r.size}, Layout: l, Tool: tool, ID: id}
	f.Format = tool.Format(&f.Layout, func(uuid uint64) bool {
		_, found := slices.BinarySearch(src.Layout.Elsewhere, InMap(uuid))
		return found || src.near != nil && src.near(ctx, uuid)
	}, func(yield func(Line, error) bool) {
		if src.origin != "" {
			LinesIn(ctx, src.origin)(yield)
		}
	})
	before := len(n.Damaged)
	if f.Table, err = scan(ctx, r, r.size, f.Format, n); err != nil {
		return nil, err
	}
	f.Told = func(line int, err error) LineError { return src.told(f, line, err) }
	n.Lines, n.Torn = n.Lines+f.Table.LinesRead, errors.Join(n.Torn, r.torn)
	for i, d := range n.Damaged[before:] {
		n.Damaged[before+i] = f.Told(d.Line, d.Err)
	}
	if src.broken != nil {
		n.Damaged = append(n.Damaged, LineError{1, inFile(f.Path, src.main, src.broken)})
	}
	return f, nil
}

// told returns the error of a line for a report: with its number in its own file, where
// several are read as one, and with the path of a file other than the history's own.
func (src Source) told(f *File, line int, err error) LineError {
	starts, offset := f.Reader.starts, f.Table.Records.At(f.Table.RecordAt(line-1)).Offset
	i := sort.Search(len(starts), func(i int) bool { return starts[i] > offset }) - 1
	first := sort.Search(f.Table.Records.Len(), func(at int) bool { return f.Table.Records.At(int32(at)).Offset >= starts[i] })
	s := src.Segments[i]
	line -= int(f.Table.Line(int32(first)))
	return LineError{line, inFile(s.Path, src.main, err)}
}

// Lines yields the lines.
func (f *File) Lines(ctx context.Context) iter.Seq2[Line, error] {
	return LinesOf(ctx, io.NewSectionReader(f.Reader, 0, f.Size))
}

// Part returns the content of a record. It is valid until the next call.
func (f *File) Part(at int32) (Part, error) {
	offset := f.Table.Records.At(at).Offset
	raw, err := f.Input.Line(offset)
	if err != nil {
		return nil, err
	}
	p, err := f.Format.Part(raw, offset, f.Table.Nth(at), f.other.Line)
	if err != nil {
		return nil, &LineError{int(f.Table.Line(at)) + 1, ErrChanged}
	}
	return p, nil
}

// Says returns a hash of what the line of a record says.
func (f *File) Says(at int32) (uint64, error) {
	raw, err := f.Input.Line(f.Table.Records.At(at).Offset)
	if err != nil {
		return 0, err
	}
	return f.Tool.Says(raw), nil
}

// Compared returns what the records say by which files are compared, in order: of records that
// name others, each once.
func (f *File) Compared(ctx context.Context) (all []uint64, err error) {
	said, last := uint64(0), int64(-1)
	for i, r := range f.Table.Records.All() {
		if r.UUID == 0 || !f.Tool.IsCompared(*r) {
			continue
		}
		if r.Offset != last { // else it is of the same line
			if said, err = f.Says(int32(i)); err != nil || ctx.Err() != nil {
				return nil, cmp.Or(err, ctx.Err())
			}
			last = r.Offset
		}
		all = append(all, said)
	}
	slices.Sort(all)
	if f.Tool.Program().Linked {
		all = slices.Compact(all)
	}
	return all, nil
}

// BySays returns 1 more than the first record of each line by what the line says.
func (f *File) BySays() map[uint64]int32 {
	all, last := map[uint64]int32{}, int64(-1)
	for i, r := range f.Table.Records.All() {
		if r.UUID == 0 || r.Offset == last {
			continue
		}
		last = r.Offset
		if said, err := f.Says(int32(i)); err == nil {
			all[said] = int32(i) + 1
		}
	}
	return all
}

// RecordID returns the tool's id of a record, or its line where there is none.
func (f *File) RecordID(at int32) string {
	if p, err := f.Part(at); err == nil && p.ID() != "" {
		return p.ID()
	}
	return fmt.Sprint("line ", f.Table.Line(at)+1)
}

// Line returns the conversation of a file, or of a sub-agent.
func (f *File) Line(s Scope) []int32 {
	if chain := f.Table.Conversation(f.Table.Leaves(f.Table.Roots())[0], s); len(chain) > 0 {
		return chain
	}
	return f.Table.Conversation(f.Table.Leaves(nil)[0], s)
}

// Pack writes the file, compressed. The error Is ErrChanged when it differs from the
// scanned file.
func (f *File) Pack(ctx context.Context, w io.Writer) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(z, sum), contextReader{ctx, io.NewSectionReader(f.Reader, 0, f.Size)})
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != f.Table.Sum {
		err = ErrChanged
	}
	return errors.Join(err, z.Close())
}
