package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const (
	maxDraft   = 16 << 20    // bytes of the file
	draftPiece = 32 << 10    // bytes of text in a line, at most
	delay      = time.Second // from a piece to the file, at most
)

// Draft is what an interrupted answer had said since the last row of its turn.
type Draft struct {
	Prompt   int // the number of the prompt among the messages of the session, from 1; 0: there is no draft
	Text     string
	Thinking string
}

// draftLine is a line of a draft. The first line of the file has V, Prompt and At.
type draftLine struct {
	V        int    `json:"v"`
	Prompt   int    `json:"prompt"`
	At       string `json:"at"` // the place after the last row of the transcript, as a cursor
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
}

// ReadDraft returns the draft of a session: the zero Draft when there is none, or when it
// belongs to another state of the transcript. The turn may still run. ReadDraft takes no
// lock and changes nothing. A symlink, or anything else but a regular file, is no draft.
func ReadDraft(ctx context.Context, st *sessionstore.Store, id string) (d Draft, err error) {
	defer func() { err = core.Wrap("read the draft of", id, err) }()
	var head draftLine
	var text, thinking strings.Builder
	err = core.Of(st).Read(ctx, id, func(dir *sessiondir.Dir) error {
		if is, err := dir.Root().Lstat(sessiondir.Draft); err != nil || is.Size() > maxDraft {
			return nil //nolint:nilerr // there is none that a turn wrote
		}
		_, err := dir.ReadLog(sessiondir.Draft, func(l jsonl.Line) bool {
			var line draftLine
			err := json.Unmarshal(l.Bytes, &line)
			if l.Number == 1 {
				head = line
			}
			text.WriteString(line.Text)
			thinking.WriteString(line.Thinking)
			return err == nil
		}, func(jsonl.Line) {})
		return err
	})
	if errors.Is(err, vfs.ErrNotRegular) {
		return d, nil
	}
	if err != nil || head.V != 1 || head.Prompt < 1 {
		return d, err
	}
	end, err := endOf(ctx, st, id) // read last: a turn removes its draft after it stored its answer
	if err == nil && end == head.At {
		d = Draft{head.Prompt, text.String(), thinking.String()}
	}
	return d, err
}

// endOf returns the place after the last row of a session.
func endOf(ctx context.Context, st *sessionstore.Store, id string) (end string, err error) {
	err = (&Turn{st: st, id: id}).view(ctx, func(v *sessionstore.View) error {
		c, err := v.Cursor(ctx, v.Len())
		end = c.String()
		return err
	})
	return end, err
}

// Draft returns the draft that [Resume] found, the zero Draft when there was none. To keep it
// as a part of the answer, Say it again. The first piece that is said replaces it.
func (t *Turn) Draft() Draft { return t.draft.found }

// Say adds a piece to the text of the answer. It is in the draft within a second. An
// error is of the draft alone: the piece is a part of the answer all the same.
func (t *Turn) Say(piece string) error { return t.draft.add(&t.draft.text, piece) }

// Think adds a piece to the thinking that precedes the answer, as Say does.
func (t *Turn) Think(piece string) error { return t.draft.add(&t.draft.thinking, piece) }

// draft is the draft of a turn.
type draft struct {
	of    *Turn
	ctx   context.Context // of the calls that write it
	found Draft           // by Resume

	mu       sync.Mutex // guards the fields below
	ended    bool
	former   bool // text and thinking are those of found
	text     said
	thinking said
	there    bool            // the session may have the file
	file     sessiondir.Tail // of the file; zero: the next write begins it anew
	full     bool
	timer    *time.Timer // nil: no write is due
	ticks    sync.WaitGroup
	err      error // of a write, until a call returns it
}

// said is text, of which the file has the first bytes.
type said struct {
	strings.Builder
	written int
}

func (d *draft) add(to *said, piece string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return errEnded
	}
	if d.former {
		d.reset()
	}
	to.WriteString(piece)
	if d.timer == nil && !d.full {
		d.ticks.Add(1)
		d.timer = time.AfterFunc(delay, d.tick)
	}
	err := d.err
	d.err = nil
	return core.Wrap("write the draft of", d.of.id, err)
}

// tick writes what was said since the last tick.
func (d *draft) tick() {
	defer d.ticks.Done()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer = nil; !d.ended {
		d.err = d.write()
	}
}

// write appends what the file lacks, as far as it has room. A file that is begun anew takes the
// place of whatever has its name. After an error the next write begins the file anew.
func (d *draft) write() error {
	if d.full || d.text.Len() == d.text.written && d.thinking.Len() == d.thinking.written {
		return nil
	}
	var lines []byte
	anew := d.file.Whole == 0
	if anew {
		end, err := endOf(d.ctx, d.of.st, d.of.id)
		if err != nil {
			return err
		}
		lines = fmt.Appendf(nil, `{"v": 1, "prompt": %d, "at": %q}`+"\n", d.of.prompt, end)
	}
	lines = d.append(lines, `{"thinking": `, &d.thinking)
	lines = d.append(lines, `{"text": `, &d.text)
	d.there = true
	err := d.of.core.Read(d.ctx, d.of.id, func(dir *sessiondir.Dir) (err error) {
		if anew {
			err = removeDraft(dir)
		}
		if err == nil {
			d.file, err = dir.AppendLog(sessiondir.Draft, d.file, lines, false)
		}
		return err
	})
	if err != nil {
		d.anew()
	}
	return err
}

// append appends lines with the text that the file lacks.
func (d *draft) append(lines []byte, member string, s *said) []byte {
	for s.written < s.Len() && !d.full {
		piece := limits.Cut(s.String()[s.written:], draftPiece)
		line := append(pyjson.AppendQuoted([]byte(member), piece, pyjson.Style{Replace: true}), "}\n"...)
		if d.full = d.file.Whole+int64(len(lines)+len(line)) > maxDraft; !d.full {
			lines = append(lines, line...)
			s.written += len(piece)
		}
	}
	return lines
}

// anew has the next write begin the file anew, with all that was said.
func (d *draft) anew() {
	d.file, d.full, d.text.written, d.thinking.written = sessiondir.Tail{}, false, 0, 0
}

// reset forgets what was said.
func (d *draft) reset() {
	d.former, d.err, d.text, d.thinking = false, nil, said{}, said{}
	d.anew()
}

// removeDraft removes what has the name of the draft. It follows no symlink.
func removeDraft(dir *sessiondir.Dir) error {
	if _, err := dir.Root().Lstat(sessiondir.Draft); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return dir.Remove(sessiondir.Draft)
}

// remove removes the file. A void one that stays does no harm.
func (d *draft) remove() {
	d.there = false
	_ = d.of.core.Read(d.ctx, d.of.id, removeDraft)
}

// takeUp makes what Resume found the content of the draft, until something else is said. A
// draft of another state goes.
func (d *draft) takeUp(found Draft) {
	if found.Prompt == 0 {
		d.remove()
		return
	}
	d.found, d.former, d.there = found, true, true
	d.text.WriteString(found.Text)
	d.thinking.WriteString(found.Thinking)
}

// store stores a row, of which all that was said is part. The zero row stands for the answer
// that was said: it stores none when nothing was.
func (d *draft) store(ctx context.Context, row sessionstore.Message) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return errEnded
	}
	if row == (sessionstore.Message{}) {
		row, err = d.answer()
	}
	if err == nil && row != (sessionstore.Message{}) {
		if _, err = d.of.last(ctx); err == nil {
			err = d.of.st.Append(ctx, d.of.id, row)
		}
		if err == nil && d.there {
			d.remove()
		}
	}
	if err == nil {
		d.reset()
	}
	return err
}

// answer returns what was said as a row, the zero Message when nothing was.
func (d *draft) answer() (row sessionstore.Message, err error) {
	if d.former || d.text.Len()+d.thinking.Len() == 0 {
		return row, nil
	}
	row, err = sessionstore.Text("assistant", d.text.String(), d.of.core.Now())
	if err == nil && d.thinking.Len() > 0 {
		row, err = row.With("thinking_text", d.thinking.String())
	}
	return row, err
}

// beside calls store, which stores a row that is no part of what was said. The draft goes on
// after it.
func (d *draft) beside(store func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := store()
	if err == nil && !d.ended && d.there {
		d.anew()
		d.err = d.write()
	}
	return err
}

// end writes the rest, and waits for a write under way. It reports whether it is the first call.
func (d *draft) end() (first bool, err error) {
	d.mu.Lock()
	if first = !d.ended; first {
		d.ended = true
		if d.timer != nil && d.timer.Stop() {
			d.ticks.Done()
		}
		if err = d.err; !d.former {
			err = errors.Join(err, d.write())
		}
	}
	d.mu.Unlock()
	d.ticks.Wait()
	return first, err
}
