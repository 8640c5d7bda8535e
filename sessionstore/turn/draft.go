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
	delay      = time.Second // from a piece to the file
)

// Draft is what an interrupted answer had said since the last row of its turn.
type Draft struct {
	Prompt   int // the number of the prompt among the messages of the session, from 1; 0: there is no draft
	Text     string
	Thinking string
}

// ReadDraft returns the draft of a session: the zero Draft where there is none, or where
// the one that is there belongs to another state of the transcript. The turn may still
// run. ReadDraft takes no lock and changes nothing. A symlink, or anything else that is no
// regular file, is no draft.
func ReadDraft(ctx context.Context, st *sessionstore.Store, id string) (Draft, error) {
	d, err := readDraft(ctx, st, id)
	return d, core.Wrap("read the draft of", id, err)
}

// draftLine is a line of a draft. The first line of the file has V, Prompt and At.
type draftLine struct {
	V        int    `json:"v"`
	Prompt   int    `json:"prompt"`
	At       string `json:"at"` // the place after the last row of the transcript, as a cursor
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
}

func readDraft(ctx context.Context, st *sessionstore.Store, id string) (Draft, error) {
	var head draftLine
	var text, thinking strings.Builder
	err := core.Of(st).Read(ctx, id, func(dir *sessiondir.Dir) error {
		if at, err := dir.Stat(sessiondir.Draft); err != nil || at.Size > maxDraft {
			return nil //nolint:nilerr // there is none of this package
		}
		_, err := dir.ReadLog(sessiondir.Draft, func(l jsonl.Line) bool {
			var line draftLine
			if json.Unmarshal(l.Bytes, &line) != nil {
				return false
			}
			if l.Number == 1 {
				head = line
			}
			text.WriteString(line.Text)
			thinking.WriteString(line.Thinking)
			return true
		}, func(jsonl.Line) {})
		if errors.Is(err, vfs.ErrNotRegular) {
			err = nil
		}
		return err
	})
	if err != nil || head.V != 1 || head.Prompt < 1 {
		return Draft{}, err
	}
	end, err := endOf(ctx, st, id) // after the draft was read: a turn removes its draft after it stores its answer
	if err != nil || end != head.At {
		return Draft{}, err
	}
	return Draft{head.Prompt, text.String(), thinking.String()}, nil
}

// endOf returns the place after the last row of a session.
func endOf(ctx context.Context, st *sessionstore.Store, id string) (string, error) {
	v, err := st.View(ctx, id)
	if v == nil {
		return "", err
	}
	var end sessionstore.Cursor
	if err == nil {
		end, err = v.Cursor(ctx, v.Len())
	}
	return end.String(), errors.Join(err, v.Close())
}

// Draft returns what the draft had that [Resume] found. It is the zero Draft after Begin.
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
	there    bool        // the session may have the file
	file     *vfs.Append // nil: it has not been made since the last row
	size     int64
	full     bool
	timer    *time.Timer // nil: all is written, or cannot be
	ticks    sync.WaitGroup
	err      error // of a write, until a call returns it
}

// said is text, of which the file has the first bytes.
type said struct {
	strings.Builder
	written int
}

// add adds a piece, and has it written within the delay.
func (d *draft) add(to *said, piece string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return errEnded
	}
	if d.former {
		d.close()
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
	d.timer = nil
	if !d.ended {
		d.err = d.write()
	}
}

// write writes what the file lacks. After an error the next write makes the file anew.
func (d *draft) write() (err error) {
	if d.text.Len()+d.thinking.Len() == 0 || d.full {
		return nil
	}
	var lines []byte
	if d.file == nil {
		if lines, err = d.create(); err != nil {
			return err
		}
	}
	lines = d.appendNew(lines, `{"thinking": `, &d.thinking)
	lines = d.appendNew(lines, `{"text": `, &d.text)
	if err := d.file.Write(lines, d.size); err != nil {
		d.close()
		return err
	}
	d.size += int64(len(lines))
	return nil
}

// appendNew appends lines with the text that the file lacks, as far as it has room.
func (d *draft) appendNew(lines []byte, member string, s *said) []byte {
	for rest := s.String()[s.written:]; rest != "" && !d.full; rest = s.String()[s.written:] {
		piece := limits.Cut(rest, draftPiece)
		line := append(pyjson.AppendQuoted([]byte(member), piece, pyjson.Style{Replace: true}), "}\n"...)
		if d.full = d.size+int64(len(lines)+len(line)) > maxDraft; !d.full {
			lines = append(lines, line...)
			s.written += len(piece)
		}
	}
	return lines
}

// create makes the file, in the place of whatever has its name, and returns its first line.
func (d *draft) create() (line []byte, err error) {
	end, err := endOf(d.ctx, d.of.st, d.of.id)
	if err != nil {
		return nil, err
	}
	d.there = true
	err = d.of.core.Read(d.ctx, d.of.id, func(dir *sessiondir.Dir) error {
		if err := removeDraft(dir); err != nil {
			return err
		}
		file, made, err := dir.Append(sessiondir.Draft)
		if err == nil && !made {
			err = errors.Join(fs.ErrExist, file.Close())
		}
		if err == nil {
			d.file = file
		}
		return err
	})
	return fmt.Appendf(nil, `{"v": 1, "prompt": %d, "at": %q}`+"\n", d.of.prompt, end), err
}

// removeDraft removes what has the name of the draft. It follows no symlink.
func removeDraft(dir *sessiondir.Dir) error {
	if _, err := dir.Root().Lstat(sessiondir.Draft); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return dir.Remove(sessiondir.Draft)
}

// close closes the file, which stays. The next write makes another with all that was said.
func (d *draft) close() {
	if d.file != nil {
		_ = d.file.Close() // it is not synced, and what could not be written was reported
	}
	d.file, d.size, d.full, d.text.written, d.thinking.written = nil, 0, false, 0, 0
}

// reset forgets what was said.
func (d *draft) reset() { d.former, d.text, d.thinking = false, said{}, said{} }

// remove removes the file. An error does no harm: the draft is void.
func (d *draft) remove() {
	d.close()
	d.there = false
	_ = d.of.core.Read(d.ctx, d.of.id, removeDraft)
}

// takeUp makes what Resume found the content of the draft, until something else is said.
func (d *draft) takeUp(found Draft) {
	d.found, d.former, d.there = found, found.Prompt > 0, found.Prompt > 0
	d.text.WriteString(found.Text)
	d.thinking.WriteString(found.Thinking)
}

// store stores a row with all that was said so far, or that as the answer where row is the
// zero Message. It stores no row when nothing was said.
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

// answer returns what was said as a row.
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

// beside calls store, which stores a row that is none of what was said so far. The draft
// goes on after that row.
func (d *draft) beside(store func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := store()
	if err == nil && !d.ended && d.there {
		d.close()
		d.err = d.write()
	}
	return err
}

// end writes the rest and closes the file, and waits for a write under way. It reports
// whether it is the first call.
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
		d.close()
	}
	d.mu.Unlock()
	d.ticks.Wait()
	return first, err
}
