package resync

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// files gives the small files of a head the form that the rules let them have. It
// reports whether one of them got another.
func (s *session) files(ctx context.Context, t *head.Head) (changed bool, err error) {
	for _, name := range slices.Sorted(maps.Keys(t.Files)) {
		f := t.Files[name]
		if sessiondir.IsImported(name) { // rules do not look into what is compressed
			delete(t.Files, name)
			changed = true
			continue
		}
		content, err := s.Reader.File(ctx, s.sid, f)
		if err != nil {
			return changed, fmt.Errorf("read %s: %w", name, err)
		}
		now := Text(s.Rules, content)
		if bytes.Equal(now, content) {
			continue
		}
		changed = true
		blob, docs := segment.Pack(s.sid, now)
		if err := s.out.take(ctx, docs); err != nil {
			return changed, err
		}
		f.Blob, f.Summary = blob, head.Summary(name, now)
		t.Files[name] = f
	}
	return changed, nil
}

// Text returns a text as rules let it leave, line by line.
func Text(rules Rules, text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte{'\n'})
	for i, line := range lines {
		body, ended := bytes.CutSuffix(line, []byte{'\n'})
		body = bytes.Clone(rules.Line(body))
		if ended {
			body = append(body, '\n')
		}
		lines[i] = body
	}
	return bytes.Join(lines, nil)
}
