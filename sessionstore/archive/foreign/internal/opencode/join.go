package opencode

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"iter"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// told is what lines say.
type told struct {
	shown []shown         // the messages that no later one takes back
	open  [2]string       // the revert that no message followed: a message, and a part of it
	back  map[string]bool // the ids of the messages that were taken back
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
			t.takeBack()
			t.shown = append(t.shown, s)
		case "revert":
			t.open = [2]string{p.id, thread.Text(thread.Members(l.Bytes, "part")[0])}
		}
	}
	return t, nil
}

// takeBack ends the revert that is open.
func (t *told) takeBack() {
	if n := slices.IndexFunc(t.shown, func(s shown) bool { return s.id == t.open[0] }); n >= 0 {
		for _, s := range t.shown[n:] {
			t.back[s.id] = true
		}
		t.shown = t.shown[:n]
	}
	t.open = [2]string{}
}

// Join: opencode removes what a revert hid with the next prompt. The lines of that stay, and a line
// behind them says that they are taken back; one without a message says that a revert ended before.
func (t Tool) Join(ctx context.Context, kept, now *thread.File, w io.Writer) error {
	had, err := toldBy(kept.Lines(ctx))
	has, failed := toldBy(now.Lines(ctx))
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	out := lineWriter{bufio.NewWriterSize(w, 64<<10)}
	if _, err := io.Copy(out, io.NewSectionReader(kept.Reader, 0, kept.Size)); err != nil {
		return err
	}
	revert := func(to [2]string) {
		if to != had.open {
			out.line("type", "revert", "message", to[0], "part", to[1])
		}
		had.open = to
	}
	gone := [2]string{}
	if n := slices.IndexFunc(had.shown, func(s shown) bool { return !has.says[s.says] }); n >= 0 {
		gone[0] = had.shown[n].id
	}
	if has.open[0] == "" || slices.ContainsFunc(has.shown, func(s shown) bool { return !had.says[s.says] }) {
		revert(gone)
	}
	further := false // a message, whose results are its own
	for l, err := range now.Lines(ctx) {
		if err != nil {
			return err
		}
		p, _ := parse(l.Bytes)
		isMessage, isNew := p.kind == "user" || p.kind == "assistant", !had.says[p.says()]
		if isMessage {
			further = isNew
		}
		if !t.Speaks(l.Bytes) || p.kind == "revert" || !isNew && !further {
			continue
		}
		if isMessage {
			had.open = [2]string{}
		}
		_, _ = out.Write(append(l.Bytes, '\n'))
	}
	if has.open[0] != "" {
		revert(has.open)
	}
	return out.Flush()
}
