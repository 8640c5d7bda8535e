package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// target is a session that is to be made of a line of a file.
type target struct {
	file     *thread.File
	kind     Kind
	id       string
	chain    []int32
	parent   string
	agent    string              // its kind
	task     string              // its task, in short; "" where the file names none
	foreign  string              // the tool's id of a sub-agent
	call     string              // the tool's id of the call that began a sub-agent, where the file names it
	turn     int                 // after which it leaves its parent
	original bool                // it keeps the file
	beside   string              // see place
	here     *thread.HereRows    // messages of the session that were exported
	early    int                 // see state.early
	mine     func(at int32) bool // whether a record is of the session, on whichever branch; nil for a branch
}

// place returns the name of the folder in which the session keeps the tool's file, and of the
// member of metadata that describes it.
func (tg target) place() string { return cmp.Or(tg.beside, importFolder) }

// plan is the result of rendering a target.
type plan struct {
	r       *thread.Rendering
	want    sessionstore.Revision // the transcript
	extends bool                  // it begins with all that the session has
	notes   *thread.Notes
}

// write renders the target for a session that has the transcript has, and writes the
// messages as lines.
func (tg target) write(ctx context.Context, w io.Writer, has sessionstore.Revision) (*plan, error) {
	p, c, out := &plan{notes: thread.NewNotes()}, tally{}, bufio.NewWriterSize(w, 64<<10)
	r, err := thread.Render(tg.file, tg.chain, tg.turn, tg.early, tg.here, p.notes, func(m sessionstore.Message) error {
		_, err := out.Write(c.add(m))
		p.extends = p.extends || c.n == has.Messages && c.revision() == has
		return cmp.Or(err, ctx.Err())
	})
	p.r, p.want = r, c.revision()
	return p, cmp.Or(err, out.Flush())
}

// tally counts and hashes the lines of messages, in the form that a save by the
// Python tools gives them.
type tally struct {
	sum          xxh3.Hasher
	n            int
	bytes        int64
	line, normal []byte
}

// add returns the line of a message, which is valid until the next call.
func (c *tally) add(m sessionstore.Message) []byte {
	c.line = m.AppendTo(c.line[:0])
	row := c.line
	if bytes.Contains(row, []byte(`\u202`)) || bytes.Contains(row, []byte(`\u0085`)) { // line breaks that finish writes as escapes
		if normal, err := pyjson.AppendMessage(c.normal[:0], row, pyjson.Style{}); err == nil {
			row, c.normal = normal, normal
		}
	}
	_, _ = c.sum.Write(row)
	_, _ = c.sum.Write(endOfLine)
	c.n++
	c.bytes += int64(len(row)) + 1
	c.line = append(c.line, '\n')
	return c.line
}

var endOfLine = []byte{'\n'}

func (c *tally) revision() sessionstore.Revision {
	return sessionstore.Revision{Messages: c.n, Bytes: c.bytes, Sum: c.sum.Sum128().Bytes()}
}

// describe sets in metadata the members that follow from a rendering. Metadata without a
// session_id get all members of a new session.
func (tg target) describe(md *sessionstore.Metadata, r *thread.Rendering, s state) error {
	t := tg.file.Table
	var members []assignment
	if md.Text("session_id") == "" {
		created := pytime.Format(r.Start.UTC().Truncate(time.Microsecond))
		members = append(members, assignment{"session_id", tg.id})
		if tg.parent != "" {
			members = append(members, assignment{"parent_id", tg.parent})
		}
		if tg.parent != "" && tg.kind != Agent {
			members = append(members, assignment{"forked_from_turn", tg.turn}, assignment{"forked_at", created})
		}
		members = append(members, assignment{"created", created}, assignment{"bundle", "unknown"})
		if t.Dir != "" {
			members = append(members, assignment{"working_dir", t.Dir})
		}
	}
	if err := errors.Join(assign(md, members...), tg.nameIn(md, r, &s)); err != nil {
		return err
	}
	members = nil
	if tg.place() == importFolder { // else a host of this store runs it with a model of its own
		members = []assignment{{"model", cmp.Or(r.Model, "unknown")}}
	}
	return assign(md, append(members, assignment{"turn_count", r.Turns}, assignment{tg.place(), s})...)
}

// name returns the name of a session: the tool's title, with a note on the kind of the
// session. Without a title, its first prompt of its own distinguishes a branch from others,
// and names a conversation whose first line in lists no person typed.
func (tg target) name(r *thread.Rendering) string {
	title, note := thread.GivenTitle(tg.file.Table.Title), ""
	switch tg.kind {
	case Branch:
		note = " (another branch)"
	case Diverged:
		note = " (went on in the other tool)"
	}
	own := cmp.Or(r.Own, r.Command)
	switch {
	case tg.kind == Agent:
		title = cmp.Or(thread.GivenTitle(tg.task), tg.agent)
	case title == "" && note != "":
		title = cmp.Or(own, "Imported")
	case title == "" && own != r.First:
		title = own
	}
	name := strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, title))
	left := thread.MaxName - utf8.RuneCountInString(note)
	for at := range name {
		if left--; left < 0 {
			return name[:at] + note
		}
	}
	return name + note
}

// renames reports whether the tool's name of a session takes the place of the one that it has: a
// person gave it in the tool, and an import gave the other one. A name from an export takes only the
// place of one that no person gave, or that is from there.
func (tg target) renames(md sessionstore.Metadata) bool {
	_, here := md.Lookup("name_revision")
	_, byHost := md.Lookup("name_generated_at")
	given := stateIn(md, importFolder).Tool != ""
	if tg.beside != "" {
		given = md.Text("name_source") == "generated" || thread.Hash(md.Text("name")) == stateIn(md, tg.beside).Named
	}
	return !here && !byHost && tg.file.Table.ByPerson && tg.kind == Conversation && given
}

// adopts reports whether the session of a sub-agent has no parent yet, since the file had no conversation
// when an import made it.
func (tg target) adopts(md sessionstore.Metadata) bool {
	return tg.parent != "" && md.Text("parent_id") == "" && stateIn(md, importFolder).Tool != ""
}

// nameIn gives a session its name, unless its present name stays, and the parent that it lacks. It notes in s a name
// from an export.
func (tg target) nameIn(md *sessionstore.Metadata, r *thread.Rendering, s *state) error {
	if tg.kind == Agent && tg.adopts(*md) {
		if err := assign(md, assignment{"parent_id", tg.parent}); err != nil {
			return err
		}
	}
	name, from := tg.name(r), "generated"
	if has := md.Text("name"); name == "" || has != "" && !tg.renames(*md) || has == name && tg.beside != "" { // the export has it from here
		return nil
	}
	if tg.file.Table.ByPerson {
		from = "manual"
	}
	if tg.beside != "" {
		s.Named = thread.Hash(name)
	}
	return assign(md, assignment{"name", name}, assignment{"name_source", from})
}

// sessions are the sessions that a file makes: one of its conversation, and others.
type sessions struct {
	file     *thread.File
	top      target // its chain is empty where the file has no conversation
	all      []target
	others   int               // lines without a prompt of their own
	unplaced []thread.Unplaced // prompts that are in none of them
}
