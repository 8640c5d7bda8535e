package syncer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/track"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func (l *local) scanFiles(ctx context.Context) error {
	l.files = nil
	return l.Core.Read(ctx, l.id, func(dir *sessiondir.Dir) error {
		for _, name := range sessiondir.Small {
			f, err := l.scanFile(dir, name)
			if err != nil {
				return err
			}
			l.files = append(l.files, f)
		}
		return l.scanImported(dir)
	})
}

// scanImported adds the files of an import, but those here that rules would have to
// change.
func (l *local) scanImported(dir *sessiondir.Dir) error {
	_, err := dir.Stat(sessiondir.Imported[0])
	none := errors.Is(err, fs.ErrNotExist)
	for _, name := range sessiondir.Imported {
		f := &localFile{name: name}
		if !none {
			if l.Redact != nil {
				continue
			}
			if f, err = l.scanFile(dir, name); err != nil {
				return err
			}
		}
		l.files = append(l.files, f)
	}
	return nil
}

func (l *local) scanFile(dir *sessiondir.Dir, name string) (*localFile, error) {
	f := &localFile{name: name}
	known := l.st.Files[name]
	stamp, err := dir.Stat(name)
	f.large = err == nil && stamp.Size > l.LargestFile
	if errors.Is(err, fs.ErrNotExist) || f.large {
		return f, nil
	}
	if known != nil && err == nil && known.InStep() && known.File.Same(stamp) && l.Core.Settled(stamp, known.At) {
		f.there, f.stamp, f.sum, f.forms = true, stamp, known.Seen, known.Forms
		return f, nil
	}
	at := time.Now()
	content, stamp, err := dir.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	f.there, f.stamp = true, stamp
	l.leave(f, content)
	if name == sessiondir.Metadata {
		_, err := sessionstore.ParseMetadata(content)
		f.bad = err != nil
	}
	f.sum = sha256.Sum256(f.content)
	if known != nil && !f.bad {
		known.File, known.At, known.Seen = stamp, at, f.sum
	}
	return f, nil
}

// leavingFile returns a file as it leaves the device, redacted line by line. The ids of
// parents that stay here do not leave.
func (s *session) leavingFile(name string, content []byte) []byte {
	if s.verdict.secret && name == sessiondir.Metadata && pyjson.Check(content, pyjson.Tolerant) == nil {
		content = withoutParents(content)
	}
	if s.Redact == nil {
		return content
	}
	lines := bytes.SplitAfter(content, []byte{'\n'})
	for i, line := range lines {
		body, ended := bytes.CutSuffix(line, []byte{'\n'})
		body = bytes.Clone(s.Redact.Line(body))
		if ended {
			body = append(body, '\n')
		}
		lines[i] = body
	}
	return bytes.Join(lines, nil)
}

// load reads the content of a file of which only the sum is known.
func (l *local) load(ctx context.Context, f *localFile) error {
	if f.content != nil || !f.there {
		return nil
	}
	own, err := l.raw(ctx, f)
	if err != nil {
		return err
	}
	l.leave(f, own)
	return nil
}

// leave sets how a file leaves that stands here as own: one that did not change since it
// was sent as it was sent, whatever the rules are now.
func (s *session) leave(f *localFile, own []byte) {
	if known := s.st.Files[f.name]; known != nil && !s.verdict.secret {
		if sent := sentLines(own, known.Forms); sum(sent) == known.Sum {
			f.content, f.forms = sent, known.Forms
			return
		}
	}
	f.content = s.leavingFile(f.name, own)
	f.forms = lineForms(own, f.content)
}

// raw returns a file as it stands here, and stood when it was scanned.
func (l *local) raw(ctx context.Context, f *localFile) (own []byte, err error) {
	err = l.Core.Read(ctx, l.id, func(dir *sessiondir.Dir) error {
		content, stamp, err := dir.Read(f.name)
		if err != nil {
			return track.Gone(err)
		}
		if own = content; !stamp.SameContent(f.stamp) {
			return track.ErrMoved
		}
		return nil
	})
	return own, err
}
