package opencode

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Take returns the arguments with which opencode imports a file of [Tool.Pack]. It adds the
// messages that it lacks, and changes none.
func (Tool) Take(path string) []string { return []string{"import", path} }

// Pack makes of the lines of a session the file that opencode imports: the form of its own
// exports.
func (Tool) Pack(ctx context.Context, lines io.ReadSeeker, name string, w io.Writer) error {
	t, err := toldBy(thread.LinesOf(ctx, lines))
	if err == nil {
		_, err = lines.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	t.takeBack()
	p := packing{w: bufio.NewWriterSize(w, 64<<10), name: name, back: t.back}
	for l, err := range thread.LinesOf(ctx, lines) {
		if err != nil {
			return err
		}
		p.line(l.Bytes)
	}
	if p.flush(); p.session == "" {
		return errNoSession
	}
	p.text("]}\n")
	return p.w.Flush()
}

var errNoSession = errors.New("the lines of the session do not begin with its own")

// packing is a file that is being made.
type packing struct {
	w       *bufio.Writer
	name    string
	session string
	ask     string          // the id of the last prompt, which answers name
	open    *line           // a message whose results may follow
	results map[string]line // of its calls, by the ids of parts, or of calls
	sep     string          // ahead of the next message
	back    map[string]bool // the messages that are taken back
}

func (p *packing) text(s string) { _, _ = p.w.WriteString(s) } // Flush returns the first error

func (p *packing) line(raw []byte) {
	raw = bytes.Clone(raw)
	l, err := parse(raw)
	if err != nil || (p.session == "") != (l.kind == "session") {
		return // a line of the tool, which is in its database
	}
	switch l.kind {
	case "session":
		m := thread.Members(raw, "directory", "version")
		p.session = l.id
		at := l.At.UnixMilli()
		info, _ := json.Marshal(object{ // of texts and numbers
			"id": l.id, "slug": "amplifier", "projectID": "global", "directory": thread.Text(m[0]), "path": "", "title": cmp.Or(p.name, "New session - "+thread.Stamp(l.At)),
			"version": thread.Text(m[1]), "time": object{"created": at, "updated": at},
		})
		p.text(`{"info":` + string(info) + `,"messages":[`)
	case "user", "assistant":
		if p.flush(); !p.back[l.id] {
			p.open, p.results = &l, map[string]line{}
		}
	case "result":
		if p.open != nil {
			p.results[cmp.Or(l.id, "call "+l.call)] = l
		}
	}
}

// flush writes the message whose results have all come.
func (p *packing) flush() {
	m := p.open
	if p.open = nil; m == nil {
		return
	}
	p.text(p.sep)
	p.sep = ",\n"
	info := with(m.data, "id", m.id, "sessionID", p.session)
	if m.kind == "user" {
		p.ask = m.id
	} else if thread.Members(info, "parentID")[0] == nil {
		info = with(info, "parentID", cmp.Or(p.ask, m.id))
	}
	p.text(`{"info":` + string(info) + `,"parts":[`)
	sep := ""
	for _, part := range m.parts {
		if part.kind == "oversized" || part.kind == "damaged" {
			continue
		}
		data := part.data
		if part.kind == "tool" {
			data = p.called(m, data, part.id)
		}
		p.text(sep)
		sep = ","
		_, _ = p.w.Write(with(data, "id", part.id, "sessionID", p.session, "messageID", m.id))
	}
	p.text("]}")
}

// called returns the data of a call of a message with its result.
func (p *packing) called(m *line, data []byte, id string) []byte {
	f := thread.Members(data, "callID", "state", "metadata")
	r, found := p.results[id]
	if !found {
		r, found = p.results["call "+thread.Text(f[0])]
	}
	if !found { // it was interrupted
		at := m.At.UnixMilli()
		r.state = fmt.Appendf(nil, `{"status":"error","error":"Tool execution aborted","time":{"start":%d,"end":%d}}`, at, at)
	}
	if mark := thread.Members(r.metadata, markMember)[0]; mark != nil {
		data = pyjson.Splice(data, "metadata", pyjson.Splice(f[2], resultMember, mark))
	}
	var files [][]byte
	for f := range pyjson.Elements(thread.Members(r.state, "attachments")[0]) {
		if thread.Members(f, "id")[0] == nil {
			f = with(f, "id", fmt.Sprint(id, "file", len(files)), "sessionID", p.session, "messageID", m.id)
		}
		files = append(files, f)
	}
	if len(files) > 0 {
		r.state = pyjson.Splice(r.state, "attachments", pyjson.ArrayOf(files))
	}
	input := thread.Members(f[1], "input")[0]
	if input == nil {
		input = []byte("{}")
	}
	return pyjson.Splice(data, "state", pyjson.Splice(r.state, "input", input))
}

// with returns an object with members that are texts.
func with(raw []byte, members ...string) []byte {
	for i := 0; i < len(members); i += 2 {
		raw = pyjson.Splice(raw, members[i], pyjson.AppendQuoted(nil, members[i+1], pyjson.Style{Replace: true}))
	}
	return raw
}
