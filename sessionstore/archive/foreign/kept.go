package foreign

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// relation is how the tool's file stands to the one that a session keeps.
type relation uint8

const (
	unkept relation = iota // the session keeps none that can be read, or one without records
	grown                  // the file begins with all that is kept
	wider                  // the file has all records that are kept
	within                 // the file has no record that is not kept
	parted                 // each has records that the other one has not
)

// relate compares a file of the tool with the one in the folder of an import. Files are
// compared by their records, a line at the end that is torn aside: those of Claude Code
// by their uuids and what they say, those of Codex by the lines that are part of the
// conversation.
func (h *history) relate(ctx context.Context, dir string) (relation, error) {
	f, _, err := openRegular(filepath.Join(dir, originalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return unkept, nil
	}
	if err != nil {
		return unkept, err
	}
	begins, err := h.beginsWith(f)
	if err = errors.Join(err, f.Close()); err != nil || begins {
		return grown, err
	}
	k, leave, err := openKept(ctx, dir, h.tool, h.id)
	if err != nil {
		if ctx.Err() == nil {
			return unkept, nil // what cannot be read is no loss
		}
		return unkept, err
	}
	defer leave()
	theirs, err := h.says(ctx)
	if err != nil {
		return unkept, err
	}
	ours, err := k.says(ctx)
	if err != nil {
		return unkept, err
	}
	switch {
	case containsAll(ours, theirs):
		return within, nil
	case len(ours) == 0:
		return unkept, nil
	case containsAll(theirs, ours):
		return wider, nil
	}
	return parted, nil
}

// openKept opens what an import kept in a folder of the tool's file.
func openKept(ctx context.Context, dir string, tool Tool, id string) (*history, func(), error) {
	row, _, err := headerOf(filepath.Join(dir, mapFile))
	if err != nil {
		return nil, nil, err
	}
	return open(ctx, sourceFiles{segments: whole(filepath.Join(dir, originalFile)), layout: layoutIn(row)}, tool, id, newReport())
}

// says returns the hashes of what the records of a file say, in order.
func (h *history) says(ctx context.Context) (all []uint64, err error) {
	if h.tool == Claude {
		for l, err := range claudeLines(ctx, h.file, h.size) {
			if err != nil {
				return nil, err
			}
			if inChain(l.kind) && l.uuid != "" {
				all = append(all, l.says())
			}
		}
		slices.Sort(all)
		return slices.Compact(all), nil
	}
	for _, r := range h.t.records.all() {
		if r.uuid != 0 && r.saysCodex() {
			all = append(all, r.uuid)
		}
	}
	slices.Sort(all)
	return all, nil
}

// saysCodex reports whether a record of Codex is a part of what files are compared by.
func (r record) saysCodex() bool { return r.is(isPerson | isAssistant | hasResults) }

// beginsWith reports whether the file has all bytes of the kept one at its beginning.
func (h *history) beginsWith(kept *os.File) (bool, error) {
	all := framesOf(kept)
	h.known = 0
	if len(all) == 0 || len(all) > len(h.t.sums) {
		return false, nil
	}
	for i, f := range all[:len(all)-1] {
		if f.sum != h.t.sums[i] {
			return false, nil
		}
	}
	last, at := all[len(all)-1], int64(len(all)-1)*frameSize
	if at+int64(last.size) > h.size || last.size > frameSize {
		return false, nil
	}
	plain := make([]byte, last.size)
	if n, err := h.file.ReaderAt.ReadAt(plain, at); n < len(plain) {
		return false, shortRead(err)
	}
	begins := frameSum(xxh3.Hash128(plain).Bytes()) == last.sum
	if begins {
		h.known = at + int64(last.size)
	}
	return begins, nil
}

// wentOn reports whether a rendering has a message of a record that no message of the
// session was made of. The file began with what it was then, or the map tells records.
func (ld *lander) wentOn(tg target, r *rendering) (bool, error) {
	all, err := mappedLines(filepath.Join(ld.kept(tg.id, tg.place()), mapFile))
	if err != nil {
		return false, err
	}
	had := map[mapped]bool{}
	of := func(line int, uuid uint64) mapped {
		if tg.original {
			return mapped{line: line}
		}
		return mapped{uuid: uuid}
	}
	for _, m := range all {
		had[of(m.line, m.uuid)] = true
	}
	for line, o := range r.lines() {
		if o.message > 0 && !had[of(line, o.uuid)] {
			return true, nil
		}
	}
	return false, nil
}

// mapped is a line that became a message.
type mapped struct {
	line int    // from 0
	uuid uint64 // hash of its record; 0: the map does not tell
}

// mappedLines returns the lines that became messages of a session, as its map tells.
func mappedLines(path string) (all []mapped, err error) {
	f, _, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for in := bufio.NewReaderSize(f, maxHeader); ; {
		row, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if pyjson.Check(pyjson.TrimSpace(row), pyjson.Tolerant) != nil {
			continue
		}
		m := members(row, "line", "message", "record")
		line, ok := pyjson.Int(m[0])
		if n, is := pyjson.Int(m[1]); !ok || !is || n < 1 || line < 1 {
			continue
		}
		uuid, _ := strconv.ParseUint(text(m[2]), 16, 64) // 0 where it is none
		all = append(all, mapped{int(line - 1), uuid})
	}
}
