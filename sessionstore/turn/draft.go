package turn

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
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
	maxRows    = 1 << 10     // bytes of it that text leaves to the rows that are stored after it
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
	V        int                 `json:"v"`
	Prompt   int                 `json:"prompt"`
	At       sessionstore.Cursor `json:"at"` // the place after the last row of the transcript
	Text     string              `json:"text"`
	Thinking string              `json:"thinking"`
	Row      string              `json:"row"` // of the row that the turn stores next: see rowOf
}

// ReadDraft returns the draft of a session: the zero Draft when there is none, or when it
// belongs to another state of the transcript. The turn may still run. ReadDraft takes no
// lock and changes nothing. It ignores a symlink, anything else but a regular file, and a file
// of another user that it may not read.
func ReadDraft(ctx context.Context, st *sessionstore.Store, id string) (d Draft, err error) {
	defer func() { err = core.Wrap("read the draft of", id, err) }()
	var head, last draftLine
	var rows []string
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
			if last = line; line.Row != "" {
				rows = append(rows, line.Row)
			}
			text.WriteString(line.Text)
			thinking.WriteString(line.Thinking)
			return err == nil
		}, func(jsonl.Line) {})
		return err
	})
	if errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, fs.ErrPermission) {
		return d, nil
	}
	if err != nil || head.V != 1 || head.Prompt < 1 {
		return d, err
	}
	// The transcript is read last: a turn removes its draft after it stored its answer.
	err = (&Turn{st: st, id: id}).view(ctx, func(v *sessionstore.View) error {
		n, same, err := v.Begins(ctx, head.At)
		more := v.Len() - n
		if err != nil || !same || more != len(rows) && (more != len(rows)-1 || last.Row == "") {
			return err
		}
		stored, err := v.Range(ctx, n+1, more)
		for i, row := range stored {
			same = same && rowOf(row) == rows[i]
		}
		if err == nil && same {
			d = Draft{head.Prompt, text.String(), thinking.String()}
		}
		return err
	})
	return d, err
}

// rowOf returns what names a row in a draft.
func rowOf(m sessionstore.Message) string {
	sum := sha256.Sum256(core.Row(m))
	return fmt.Sprintf("%x", sum[:16])
}

// endOf returns the place after the last row of a session.
func endOf(ctx context.Context, st *sessionstore.Store, id string) (end sessionstore.Cursor, err error) {
	err = (&Turn{st: st, id: id}).view(ctx, func(v *sessionstore.View) error {
		end, err = v.Cursor(ctx, v.Len())
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
	ended    atomic.Bool
	former   bool // text and thinking are those of found
	text     said
	thinking said
	there    bool            // the session may have the file
	file     sessiondir.Tail // of the file; zero: the next write begins it anew
	full     bool
	timer    *time.Timer // nil: no write is due
	ticks    sync.WaitGroup
	err      error     // of a write, until a call returns it
	tried    time.Time // when a row was stored that is not known to be: each try stores the same
}

// said is text, of which the file has the first bytes.
type said struct {
	strings.Builder
	written int
}

func (d *draft) add(to *said, piece string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended.Load() {
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
	if d.timer = nil; !d.ended.Load() {
		d.err = d.write(nil)
	}
}

// write appends what the file lacks, as far as it has room, and the row that the turn stores
// next, if there is one. A file that is begun anew replaces whatever has its name, whole. After
// an error the next write begins the file anew.
func (d *draft) write(next []byte) error {
	if d.file.Whole+int64(len(next)) > maxDraft {
		d.anew()
	}
	if len(next) == 0 && (d.full || d.text.Len() == d.text.written && d.thinking.Len() == d.thinking.written) {
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
	lines = append(d.append(lines, `{"text": `, &d.text), next...)
	d.there = true
	err := d.of.core.Read(d.ctx, d.of.id, func(dir *sessiondir.Dir) (err error) {
		if is, missing := dir.Root().Lstat(sessiondir.Draft); anew && missing == nil && is.Mode().IsRegular() {
			err = dir.Replace(sessiondir.Draft, false, time.Time{}, func(w io.Writer) error { _, err := w.Write(lines); return err })
			if err == nil {
				d.file.Whole = int64(len(lines))
				d.file.File, err = dir.Stat(sessiondir.Draft)
			}
			return err
		} else if anew {
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

// append appends lines with the text that the file lacks. A character that is not whole yet
// waits for the next call.
func (d *draft) append(lines []byte, member string, s *said) []byte {
	for text := limits.Whole(s.String()); s.written < len(text) && !d.full; {
		piece := limits.Cut(text[s.written:], draftPiece)
		line := append(pyjson.AppendQuoted([]byte(member), piece, pyjson.Style{Replace: true}), "}\n"...)
		if d.full = d.file.Whole+int64(len(lines)+len(line)) > maxDraft-maxRows; !d.full {
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
	d.former, d.err, d.text, d.thinking, d.tried = false, nil, said{}, said{}, time.Time{}
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
	if d.ended.Load() {
		return errEnded
	}
	again := !d.tried.IsZero()
	d.tried = cmp.Or(d.tried, d.of.core.Now())
	if row == (sessionstore.Message{}) {
		row, err = d.answer()
	}
	if err == nil && row != (sessionstore.Message{}) {
		s, failed := d.of.last(ctx)
		switch err = failed; {
		case err != nil:
		case again && s.n == s.end && bytes.Equal(core.Row(s.row()), core.Row(d.of.core.Stored(row))): // the call before stored it, and it may not be durable
			err = d.of.core.ChangeOwned(ctx, d.of.id, func(tx core.Tx) error { tx.Renamed(sessiondir.Transcript); return nil })
		default:
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
	row, err = sessionstore.Text("assistant", d.text.String(), d.tried)
	if err == nil && d.thinking.Len() > 0 {
		row, err = row.With("thinking_text", d.thinking.String())
	}
	return row, err
}

// beside calls store, which stores a row that is no part of what was said. The draft goes on
// after it: it names the row first, since a kill may come at any time.
func (d *draft) beside(row sessionstore.Message, store func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended.Load() {
		return errEnded
	}
	if d.there {
		d.err = d.write(fmt.Appendf(nil, `{"row": %q}`+"\n", rowOf(d.of.core.Stored(row))))
	}
	err := store()
	if err != nil { // it may be stored, or not
		d.anew()
	}
	return err
}

// end writes the rest, and waits for a write under way. It reports whether it is the first call.
func (d *draft) end() (first bool, err error) {
	d.mu.Lock()
	if first = !d.ended.Load(); first {
		d.ended.Store(true)
		if d.timer != nil && d.timer.Stop() {
			d.ticks.Done()
		}
		if err = d.err; !d.former {
			err = errors.Join(err, d.write(nil))
		}
	}
	d.mu.Unlock()
	d.ticks.Wait()
	return first, err
}
