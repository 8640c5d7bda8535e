package foreign

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// header is the first line of a map: the scope of the conversation in the session, and the
// layout of the file that it keeps.
type header struct {
	Conversation string `json:"conversation"`     // see thread.ScopeNames
	Longer       bool   `json:"longer,omitempty"` // the line has messages before the part that the tool would resume
	thread.Layout

	// Copies is where copies begin in a file that an earlier version made of those in several
	// folders: no file is read so any more.
	Copies []int64 `json:"copies,omitempty"`
}

func (h header) scope() thread.Scope {
	if h.Conversation == thread.ScopeNames[thread.ActiveLine] {
		return thread.ActiveLine
	}
	return thread.WholeLine
}

// readHeader returns the first line of the map in a folder, the zero header where there is
// no map or where that line is damaged.
func readHeader(dir string) (h header, err error) {
	for row, err := range mapRows(context.Background(), dir) {
		if err != nil || row == nil || json.Unmarshal(row, &h) != nil {
			return header{}, err
		}
		break
	}
	return h, nil
}

// mapRows yields the rows of the map in a folder, nil for a row that is none, and no
// rows without a map.
func mapRows(ctx context.Context, dir string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, _, err := thread.OpenRegular(filepath.Join(dir, mapFile))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		for l, err := range thread.LinesOf(ctx, f) {
			row, _ := thread.Object(l.Bytes)
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// mapped is a line that became a message.
type mapped struct {
	line    int    // from 0
	uuid    uint64 // hash of its record; 0: the map does not have it
	message int
}

// mappedLines returns the lines that became messages of a session, as the map in a folder says.
func mappedLines(ctx context.Context, dir string) (all []mapped, err error) {
	for row, err := range mapRows(ctx, dir) {
		if err != nil {
			return nil, err
		}
		m := thread.Members(row, "line", "message", "record")
		line, ok := pyjson.Int(m[0])
		n, is := pyjson.Int(m[1])
		if !ok || !is || n < 1 || line < 1 {
			continue
		}
		uuid, _ := strconv.ParseUint(thread.Text(m[2]), 16, 64) // 0 where it is none
		all = append(all, mapped{int(line - 1), uuid, int(n)})
	}
	return all, nil
}

// mappedUse returns the usage of each response of a session, from the map in a folder.
func mappedUse(ctx context.Context, dir string) (all []thread.Used, err error) {
	models := map[string]string{} // one text for all
	for row, err := range mapRows(ctx, dir) {
		if err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(row, []byte(`{"response"`)) {
			continue
		}
		m := thread.Members(row, "response", "model", "tokens")
		u := thread.Used{}
		if u.ID, err = strconv.ParseUint(thread.Text(m[0]), 16, 64); err != nil {
			continue
		}
		name := thread.Text(m[1])
		if _, known := models[name]; !known {
			models[name] = name
		}
		u.Model = models[name]
		tokens := make([]int64, 0, 4)
		for n := range pyjson.Elements(m[2]) {
			tokens = append(tokens, thread.Tokens(n))
		}
		tokens = append(tokens, 0, 0, 0, 0) // of a damaged map
		u.Usage = thread.Usage{Input: tokens[0], Output: tokens[1], CacheRead: tokens[2], CacheWrite: tokens[3]}
		all = append(all, u)
	}
	return all, nil
}

// writeMap writes the scope of the conversation, for each line of the file its message or
// the reason why it has none, and then the usage of each response, but of Codex. Where the
// session keeps no original, the map has for each message the hash of its record, by which
// it is found in another state of the file.
func (tg target) writeMap(r *thread.Rendering, w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	head := header{Conversation: thread.ScopeNames[tg.file.Table.Scope], Longer: r.Longer(), Layout: tg.file.Layout}
	row, err := pyjson.Encode(head)
	if err == nil {
		row, err = pyjson.Append(nil, row, pyjson.Style{})
	}
	if err != nil {
		return err
	}
	if _, err := out.Write(append(row, '\n')); err != nil {
		return err
	}
	for line, n := range r.Lines() {
		row = strconv.AppendInt(append(row[:0], `{"line": `...), int64(line)+1, 10)
		if n.Message > 0 {
			row = strconv.AppendInt(append(row, `, "message": `...), int64(n.Message), 10)
			if !tg.original {
				row = fmt.Appendf(row, `, "record": "%016x"`, n.UUID)
			}
		} else {
			row = append(append(append(row, `, "why": "`...), n.Why...), '"')
		}
		if _, err := out.Write(append(row, "}\n"...)); err != nil {
			return err
		}
	}
	uses := func(func(thread.Used) bool) {}
	if tg.mine != nil {
		uses = tg.file.Table.Responses(tg.mine)
	}
	for u := range uses {
		row = fmt.Appendf(row[:0], `{"response": "%016x", "model": `, u.ID)
		row = pyjson.AppendQuoted(row, u.Model, pyjson.Style{Replace: true})
		row = fmt.Appendf(row, `, "tokens": [%d, %d, %d, %d]}`+"\n", u.Usage.Input, u.Usage.Output, u.Usage.CacheRead, u.Usage.CacheWrite)
		if _, err := out.Write(row); err != nil {
			return err
		}
	}
	return out.Flush()
}
