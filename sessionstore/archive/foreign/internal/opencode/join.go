package opencode

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// shown is a message that no later line takes back.
type shown struct {
	id   string
	says uint64
}

// shownIn returns the messages that lines show in the end, and the ids of those that they take back.
func shownIn(lines iter.Seq2[thread.Line, error]) (all []shown, back map[string]bool, err error) {
	back = map[string]bool{}
	for l, err := range lines {
		if err != nil {
			return nil, nil, err
		}
		switch p, _ := parse(l.Bytes); p.kind { // a damaged line shows nothing
		case "user", "assistant":
			all = append(all, shown{p.id, p.says()})
		case "revert":
			for n := slices.IndexFunc(all, func(s shown) bool { return s.id == p.id }); n >= 0 && n < len(all); all = all[:len(all)-1] {
				back[all[len(all)-1].id] = true
			}
		}
	}
	return all, back, nil
}

// Join: opencode removes what a revert hid with the next prompt. The lines of that stay, and a line
// behind them says that they are taken back.
func (t Tool) Join(ctx context.Context, kept, now *thread.File, w io.Writer) error {
	has, had := map[uint64]bool{}, map[uint64]bool{}
	for of, lines := range map[*map[uint64]bool]*thread.File{&has: now, &had: kept} {
		for l, err := range lines.Lines(ctx) {
			if err != nil {
				return err
			}
			(*of)[t.Says(l.Bytes)] = true
		}
	}
	all, _, err := shownIn(kept.Lines(ctx))
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if _, err := io.Copy(out, io.NewSectionReader(kept.Reader, 0, kept.Size)); err != nil {
		return err
	}
	if n := slices.IndexFunc(all, func(s shown) bool { return !has[s.says] }); n >= 0 {
		lineWriter{out}.line("type", "revert", "message", all[n].id)
	}
	for l, err := range now.Lines(ctx) {
		if err != nil {
			return err
		}
		if t.Speaks(l.Bytes) && !had[t.Says(l.Bytes)] {
			_, _ = fmt.Fprintf(out, "%s\n", l.Bytes)
		}
	}
	return out.Flush()
}
