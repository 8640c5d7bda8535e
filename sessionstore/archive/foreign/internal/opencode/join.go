package opencode

import (
	"bufio"
	"context"
	"io"
	"iter"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// told is what lines say.
type told struct {
	shown []shown         // the messages that no later line takes back
	back  map[string]bool // the ids of the others
	says  map[uint64]bool // of all lines
}

type shown struct {
	id   string
	says uint64
}

func toldBy(lines iter.Seq2[thread.Line, error]) (told, error) {
	t := told{back: map[string]bool{}, says: map[uint64]bool{}}
	for l, err := range lines {
		if err != nil {
			return t, err
		}
		p, _ := parse(l.Bytes) // a damaged line shows nothing
		s := shown{p.id, p.says()}
		switch t.says[s.says] = true; p.kind {
		case "user", "assistant":
			t.shown = append(t.shown, s)
		case "revert":
			n := slices.IndexFunc(t.shown, func(s shown) bool { return s.id == p.id })
			for n >= 0 && n < len(t.shown) {
				t.back[t.shown[len(t.shown)-1].id] = true
				t.shown = t.shown[:len(t.shown)-1]
			}
		}
	}
	return t, nil
}

// Join: opencode removes what a revert hid with the next prompt. The lines of that stay, and a line
// behind them says that they are taken back.
func (t Tool) Join(ctx context.Context, kept, now *thread.File, w io.Writer) error {
	had, err := toldBy(kept.Lines(ctx))
	if err != nil {
		return err
	}
	has, err := toldBy(now.Lines(ctx))
	if err != nil {
		return err
	}
	out := lineWriter{bufio.NewWriterSize(w, 64<<10)}
	if _, err := io.Copy(out, io.NewSectionReader(kept.Reader, 0, kept.Size)); err != nil {
		return err
	}
	if n := slices.IndexFunc(had.shown, func(s shown) bool { return !has.says[s.says] }); n >= 0 {
		out.line("type", "revert", "message", had.shown[n].id)
	}
	for l, err := range now.Lines(ctx) {
		if err != nil {
			return err
		}
		if t.Speaks(l.Bytes) && !had.says[t.Says(l.Bytes)] {
			_, _ = out.Write(append(l.Bytes, '\n'))
		}
	}
	return out.Flush()
}
